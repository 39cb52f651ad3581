import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose'
import { client, listenOnLoopback } from './certified-provider'

const keys = await generateKeyPair('RS256', { extractable: true })
const foreignKeys = await generateKeyPair('RS256', { extractable: true })
const kid = 'key-of-a-test'

/** How a token is signed. `foreign` is a key that the provider does not publish. */
export type Signing = 'published' | 'foreign' | 'none' | 'shared secret'

interface NextAnswers {
  /** The claims of the next ID token; `nonce` comes from the sign-in. */
  claims: JWTPayload
  signing?: Signing
  userInfo?: Record<string, unknown>
  /** Fields of the discovery document instead of the right ones. */
  document?: Record<string, unknown>
  /** The status of every answer. */
  status?: number
}

/** An identity provider that answers whatever a test wants, with tokens of any claims and signatures. */
export class ForgingProvider implements Disposable {
  readonly issuer: string
  readonly #server: Server
  next: NextAnswers = { claims: {} }
  /** The requests that have arrived, as `GET /path`, with their bodies. */
  readonly requests: { line: string; authorization: string | undefined; body: string }[] = []

  private constructor(server: Server, issuer: string) {
    this.#server = server
    this.issuer = issuer
    server.on('request', (request, response) => void this.#answer(request, response))
  }

  static async open(): Promise<ForgingProvider> {
    const server = createServer()
    return new ForgingProvider(server, await listenOnLoopback(server))
  }

  /** The claims of a right ID token for a sign-in with this nonce. */
  claimsFor(nonce: string): JWTPayload {
    const now = Math.floor(Date.now() / 1000)
    return {
      iss: this.issuer,
      aud: client.id,
      sub: 'ada',
      iat: now,
      exp: now + 300,
      nonce,
      email: 'ada@example.com',
      email_verified: true,
      name: 'Ada',
    }
  }

  /** Signs claims, which may be those of a logout token. */
  async sign(claims: JWTPayload, { signing = 'published', typ = 'JWT' } = {}): Promise<string> {
    if (signing === 'none') return new UnsecuredJWT(claims).encode()
    if (signing === 'shared secret') {
      const secret = new TextEncoder().encode(client.secret)
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ }).sign(secret)
    }
    const { privateKey } = signing === 'foreign' ? foreignKeys : keys
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid, typ }).sign(privateKey)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(Buffer.from(piece))
    const { pathname } = new URL(request.url ?? '', this.issuer)
    const { authorization } = request.headers
    const body = Buffer.concat(pieces).toString()
    this.requests.push({ line: `${request.method} ${pathname}`, authorization, body })
    const answer = await this.#read(pathname)
    response.writeHead(this.next.status ?? (answer ? 200 : 404), {
      'content-type': 'application/json',
    })
    response.end(JSON.stringify(answer ?? {}))
  }

  async #read(path: string): Promise<Record<string, unknown> | undefined> {
    switch (path) {
      case '/.well-known/openid-configuration':
        return {
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          jwks_uri: `${this.issuer}/keys`,
          userinfo_endpoint: `${this.issuer}/userinfo`,
          ...this.next.document,
        }
      case '/keys':
        return { keys: [{ ...(await exportJWK(keys.publicKey)), kid, alg: 'RS256', use: 'sig' }] }
      case '/token':
        return {
          token_type: 'Bearer',
          access_token: 'the access token of a test',
          id_token: await this.sign(this.next.claims, {
            signing: this.next.signing ?? 'published',
          }),
        }
      case '/userinfo':
        return this.next.userInfo
      default:
        return undefined
    }
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
