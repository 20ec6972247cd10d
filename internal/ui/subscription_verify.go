package ui

// verifySnippets are the plain signature in four languages. Each takes the body
// byte for byte, before anything parses it.
var verifySnippets = []snippet{
	{"verify-shell", "Shell", `# body.json is the body as it arrived; must print x-service-signature
openssl dgst -sha256 -hmac "$FEEDMILL_SECRET" -r body.json | cut -d' ' -f1`},
	{"verify-go", "Go", `verifier, err := webhook.New(os.Getenv("FEEDMILL_SECRET")) // github.com/feedmill/feedmill/webhook
if err != nil {
	log.Fatal(err)
}
http.Handle("/hook", &webhook.Handler{Verifier: verifier, Handle: handle})`},
	{"verify-node", "Node.js", `import { createHmac, timingSafeEqual } from 'node:crypto';

export function verified(body, header) { // body is a Buffer, header x-service-signature
  const want = createHmac('sha256', process.env.FEEDMILL_SECRET).update(body).digest('hex');
  return header?.length === want.length && timingSafeEqual(Buffer.from(header), Buffer.from(want));
}`},
	{"verify-python", "Python", `import hashlib, hmac, os

def verified(body: bytes, header: str) -> bool:  # header is x-service-signature
    want = hmac.new(os.environ["FEEDMILL_SECRET"].encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(want, header)`},
}
