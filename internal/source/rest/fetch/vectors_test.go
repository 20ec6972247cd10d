package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Signatures of botocore 1.43, which the AWS command line uses, with the credentials and the time of the
// published test suite of Signature Version 4.
func TestSigV4OfBotocore(t *testing.T) {
	for _, test := range []struct{ method, address, service, body, contentType, token, signature string }{
		{"GET", "https://example.amazonaws.com/", "service", "", "", "", "726c5c4879a6b4ccbbd3b24edbd6b8826d34f87450fbbf4e85546fc7ba9c1642"},
		{"GET", "https://example.amazonaws.com/", "service", "", "", "AQoDYXdzEPT//EXAMPLE==", "245207a19958e3ba8b85a483932fda1063b03198800fabf960bc2d9293a2a02b"},
		{"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "service", "", "", "", "311c7f58b10b06de8540bb5a27f441ee0609f1d5ad7b191e68d7ea87d90e3d6b"},
		{"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "service", "", "", "AQoDYXdzEPT//EXAMPLE==", "ab967cb4a57c3160541fafbcce842767690712417bee4f8c457cf12703af4ead"},
		{"GET", "https://example.amazonaws.com/?Param1=value2&Param1=Value1", "service", "", "", "", "b15f59bfe94d70d9256e59920a5654f457084f308b38f908271dde7e0e14eb65"},
		{"GET", "https://example.amazonaws.com/?Param1=value2&Param1=Value1", "service", "", "", "AQoDYXdzEPT//EXAMPLE==", "15145adacf1e50cb8e90c8faf8fed2c15fc77c932de2a8cfd3c8b0a3e684cd5b"},
		{"GET", "https://example.amazonaws.com/%E1%88%B4?x=%E1%88%B4", "service", "", "", "", "7a297804c1730c7d626a1d8dddff0b789c8a9b1eed2fa46e537e55e5cfda0ea2"},
		{"GET", "https://example.amazonaws.com/%E1%88%B4?x=%E1%88%B4", "service", "", "", "AQoDYXdzEPT//EXAMPLE==", "fb669e1bae23d4ad50cd49d8bbfeacc335edecc37ef06bf15718611dd2890559"},
		{"GET", "https://example.amazonaws.com/example%20space/a+b/c%2Fd?q=a%20b&e=&f", "service", "", "", "", "08a294fe8773e87f791b15b69cd0d503f3fce35c5ef804ac5b6ff844df105bb9"},
		{"GET", "https://example.amazonaws.com/example%20space/a+b/c%2Fd?q=a%20b&e=&f", "service", "", "", "AQoDYXdzEPT//EXAMPLE==", "6ed5b99265d4610d6aa65090c28be2a9731f3ad8c40cfd960ff61c5db7716a36"},
		{"GET", "https://example.amazonaws.com/example/..", "service", "", "", "", "726c5c4879a6b4ccbbd3b24edbd6b8826d34f87450fbbf4e85546fc7ba9c1642"},
		{"GET", "https://example.amazonaws.com/example/..", "service", "", "", "AQoDYXdzEPT//EXAMPLE==", "245207a19958e3ba8b85a483932fda1063b03198800fabf960bc2d9293a2a02b"},
		{"GET", "https://example.amazonaws.com/example1/example2/../..//a/./b/", "service", "", "", "", "c1e3ec29d60a7175c1e88d4fff5c5e0ca9ad8f5ea5de50072158257c8757732b"},
		{"GET", "https://example.amazonaws.com/example1/example2/../..//a/./b/", "service", "", "", "AQoDYXdzEPT//EXAMPLE==", "02b99e5b8ca7a3edf02eddad13e3d134b8ee8a4222fee2123be01961f8809121"},
		{"GET", "https://example.amazonaws.com//a//b", "s3", "", "", "", "196db5cf5e1f46b15501d06e573c680720c2e8caaff992cdad64877cd83b5f3b"},
		{"GET", "https://example.amazonaws.com//a//b", "s3", "", "", "AQoDYXdzEPT//EXAMPLE==", "4d4674fd0a92f21e75fbb11d002e22b59fe196d2dbdf23a09f5d2c21e62b7b2a"},
		{"GET", "https://example.amazonaws.com/a/../b%20c", "s3", "", "", "", "63de299ad003f9ff93d7f1f05168844e7583184a60e512d6e2e4ec0d9e3a55ef"},
		{"GET", "https://example.amazonaws.com/a/../b%20c", "s3", "", "", "AQoDYXdzEPT//EXAMPLE==", "3575e3ffc567c5537f5af7c3437809dd4644d765747244a172a18594a1cce5a5"},
		{"GET", "https://example.amazonaws.com/?-._~0123456789abcXYZ=-._~0123456789abcXYZ", "service", "", "", "", "1b00e0099196b6f9a3a716faecbb52e61edb0ad3da0d56bea74bb2dfe228afa5"},
		{"GET", "https://example.amazonaws.com/?-._~0123456789abcXYZ=-._~0123456789abcXYZ", "service", "", "", "AQoDYXdzEPT//EXAMPLE==", "8fc8c193a4d653662c91b6ca9fc6602fd0515b9785a0b9a60435d67c1f8364a1"},
		{"POST", "https://example.amazonaws.com/x?a=1", "execute-api", `{"a":1}`, "application/json", "", "4d809e7fe336a3074f4c0997b29f0b7c0f2bad47402c163409a84fcb9bc897b0"},
		{"POST", "https://example.amazonaws.com/x?a=1", "execute-api", `{"a":1}`, "application/json", "AQoDYXdzEPT//EXAMPLE==", "3738eb7b035785c4536b121c5acafe6ca599d6a4e5cb94268fda2a08be3f9af6"},
		{"POST", "https://example.amazonaws.com:8443/x", "execute-api", "Param1=value1", "application/x-www-form-urlencoded", "", "bffddf06759754b08e5dffea0c4564dfb4f306eaa96d055b301dca2bafa8aaff"},
		{"POST", "https://example.amazonaws.com:8443/x", "execute-api", "Param1=value1", "application/x-www-form-urlencoded", "AQoDYXdzEPT//EXAMPLE==", "6c1042be4a09eadf684c67409f5da5a10312000b0b03e83395b82eb8c88d0199"},
	} {
		a := awsSigner{AWSKey: &spec.AWSKey{ID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Session: test.token, Region: "us-east-1", Service: test.service}}
		r := requestTo(t, test.method, test.address, test.body, test.contentType)
		a.signAt(r, time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC))
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+test.signature) {
			t.Errorf("%s %s: %s, want %s", test.service, test.address, got, test.signature)
		}
	}
}

// The examples of the documentation of Binance, of which the signature is the last parameter.
func TestHMACVectors(t *testing.T) {
	l := newLab(t)
	var signatures []string
	l.serve("api.binance.test", func(w http.ResponseWriter, r *http.Request) {
		_, signature, _ := strings.Cut(r.URL.RawQuery, "&timestamp=1499827319559&signature=")
		signatures = append(signatures, signature)
		respond(w, `[{"id":1}]`)
	})
	const secret = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j"
	for symbol, want := range map[string]string{
		"LTCBTC": "c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71",
		"%EF%BC%91%EF%BC%92%EF%BC%93%EF%BC%94%EF%BC%95%EF%BC%96": "e1353ec6b14d888f1164ae9af8228a3dbd508bc82eb867db8ab6046442f33ef3",
	} {
		signatures = nil
		_, _, err := l.fetch(`{"request":{"url":"https://api.binance.test/api/v3/order?symbol=` + symbol + `&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559"},
			"auth":{"kind":"hmac","secret":"` + secret + `","over":"{{query}}","param":"signature"}}`)
		if err != nil || len(signatures) != 1 || signatures[0] != want {
			t.Errorf("%s: %q %v", symbol, signatures, err)
		}
	}
}

// The example of RFC 7616, section 3.9.2, with the hashes that its erratum 4897 corrects.
func TestDigestVectorOfSHA512(t *testing.T) {
	c, ok := parseChallenge(`realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true`)
	got := c.answer(&spec.Digest{User: spec.User{Name: "Jäsøn Doe", Password: "Secret, or not?"}}, requestTo(t, "GET", "http://api.example.org/doe.json", "", ""), "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", 1)
	for _, want := range []string{`username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"`, `response="3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5"`, "algorithm=SHA-512-256", "userhash=true"} {
		if !ok || !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}
