import { createServer, type Server } from 'node:http'
import { Provider } from 'oidc-provider'

/** The client of the gateway at both providers of the tests. */
export const client = { id: 'tollgate', secret: 'the secret of a client of a test' }

type Claims = Record<string, unknown>

interface ServedClient {
  /** The address of the gateway, as a browser has it. */
  gatewayUrl: string
  /** The claims of a person by its login. */
  claimsOf: (login: string) => Claims
}

/** Listens on a free port of this machine. */
export async function listenOnLoopback(server: Server): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('there is no port')
  return `http://127.0.0.1:${address.port}`
}

/** The certified implementation `oidc-provider`, whose sign-in page accepts every login. */
export class CertifiedProvider implements Disposable {
  readonly issuer: string
  readonly #server: Server

  private constructor(server: Server, issuer: string) {
    this.#server = server
    this.issuer = issuer
  }

  /** Opens a port, so that a gateway can be started with the issuer, which serves once the gateway is known. */
  static async open(): Promise<CertifiedProvider> {
    const server = createServer()
    return new CertifiedProvider(server, await listenOnLoopback(server))
  }

  serve({ gatewayUrl, claimsOf }: ServedClient): void {
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: [`${gatewayUrl}/api/auth/callback/oidc`],
          backchannel_logout_uri: `${gatewayUrl}/api/auth/oidc/back-channel-logout`,
        },
      ],
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name'],
        groups: ['groups'],
      },
      scopes: ['openid', 'email', 'profile', 'groups'],
      features: {
        devInteractions: { enabled: true },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true },
      },
      cookies: { keys: ['a key of a test'] },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, ...claimsOf(id) }),
      }),
    })
    this.#server.on('request', provider.callback())
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** A person's browser at the provider, with its cookies there. */
export class ProviderBrowser {
  readonly #cookies = new Map<string, string>()

  async #send(url: string, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: {
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(form && { body: new URLSearchParams(form) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return response
  }

  /** Follows a sign-in from its first address, as `login`, and returns the address at the gateway that ends it. */
  async signIn(url: string, login: string): Promise<string> {
    const { origin } = new URL(url)
    let next = url
    for (let steps = 0; steps < 12; steps++) {
      const isInteraction = new URL(next).pathname.startsWith('/interaction/')
      const response = isInteraction ? await this.#answer(next, login) : await this.#send(next)
      const location = response.headers.get('location')
      if (location === null) throw new Error(`${next}: ${response.status} ${await response.text()}`)
      next = new URL(location, next).href
      if (new URL(next).origin !== origin) return next
    }
    throw new Error(`the sign-in does not end: ${next}`)
  }

  /** Answers the page that asks who signs in, or the one that asks for consent. */
  async #answer(url: string, login: string): Promise<Response> {
    const page = await (await this.#send(url)).text()
    const isLogin = page.includes('name="login"')
    return this.#send(
      url,
      isLogin ? { prompt: 'login', login, password: 'any' } : { prompt: 'consent' },
    )
  }

  /** Signs out at the provider. */
  async signOut(issuer: string): Promise<void> {
    const page = await (await this.#send(`${issuer}/session/end`)).text()
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? []
    const answer = await this.#send(`${issuer}/session/end/confirm`, { xsrf, logout: 'yes' })
    if (answer.status >= 400) throw new Error(`${answer.status} ${await answer.text()}`)
  }
}
