"""Signed tokens of an issuer for the tests of this folder, with Ed25519 keys made by openssl."""
import base64, json, os, subprocess, tempfile, time


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.jwks = os.path.join(self.folder.name, "jwks.json")
        self.first = self.new_key("first")
        self.publish(self.first)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def new_key(self, name):
        """Makes a key pair and returns its public part."""
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.path(name + ".pem")], check=True, capture_output=True)
        shown = subprocess.run(["openssl", "pkey", "-in", self.path(name + ".pem"), "-pubout", "-outform", "DER"], check=True, capture_output=True)
        return {"kty": "OKP", "crv": "Ed25519", "kid": name, "x": base64url(shown.stdout[-32:])}

    def publish(self, *keys):
        with open(self.jwks + ".new", "w") as file:
            json.dump({"keys": keys}, file)
        os.rename(self.jwks + ".new", self.jwks)

    def token(self, person, roles, key="first", lasts=600):
        head = base64url(json.dumps({"alg": "EdDSA", "kid": key}).encode())
        claims = {"iss": "issuer", "aud": "cairn", "sub": person + "-account", "exp": int(time.time()) + lasts, "email": person, "roles": roles}
        text = head + "." + base64url(json.dumps(claims).encode())
        with open(self.path("message"), "w") as file:
            file.write(text)
        signed = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-in", self.path("message"), "-inkey", self.path(key + ".pem")],
                                check=True, capture_output=True)
        return text + "." + base64url(signed.stdout)

    def flags(self):
        return ["--oidc-issuer", "issuer", "--oidc-audience", "cairn", "--oidc-jwks", self.jwks, "--oidc-roles-claim", "roles", "--oidc-person-claim", "email"]
