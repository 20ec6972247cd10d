// A receiver that parses the payload, serialises it again and verifies the
// signature of that text, as many frameworks make people do. With the stock
// library beside it (NODE_PATH), it verifies the Standard Webhooks headers of
// the raw text too. It prints its port, and takes its secret at PUT /secret.
import { createServer } from 'node:http';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';

const stock = process.argv[2] ? createRequire(process.argv[2] + '/')('standardwebhooks') : null;
let secret = '';

function verify(raw, headers) {
  const text = JSON.stringify(JSON.parse(raw));
  const want = createHmac('sha256', secret).update(text).digest();
  const got = Buffer.from(headers['x-service-signature'] ?? '', 'hex');
  if (got.length !== want.length || !timingSafeEqual(got, want)) return 'x-service-signature';
  if (stock) new stock.Webhook(secret).verify(raw, headers);
  return '';
}

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    if (request.url === '/secret') {
      secret = body;
      return response.end();
    }
    const url = new URL(request.url, 'http://receiver');
    try {
      const wrong = verify(request.method === 'GET' ? url.searchParams.get('payload') : body, request.headers);
      response.statusCode = wrong ? 400 : 204;
      response.end(wrong);
    } catch (error) {
      response.statusCode = 400;
      response.end(String(error));
    }
  });
}).listen(0, '127.0.0.1', function () {
  console.log(this.address().port);
});
