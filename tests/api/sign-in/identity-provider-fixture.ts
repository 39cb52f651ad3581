import type { SQL } from 'bun'
import { client } from '../../harness/identity-providers/certified-provider'
import type { Browser } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'

interface Issuing {
  readonly issuer: string
}

/** The variables of a gateway whose identity provider signs in `example.com` and `required.example`. */
const environmentFor = ({ issuer }: Issuing): Record<string, string> => ({
  OIDC_ISSUER_URL: issuer,
  OIDC_CLIENT_ID: client.id,
  OIDC_CLIENT_SECRET: client.secret,
  OIDC_NAME: 'Example Login',
  OIDC_DOMAINS: 'example.com,required.example',
  OIDC_REQUIRED_DOMAINS: 'required.example',
})

export interface IdentityProviderFixture extends AsyncDisposable {
  gateway: Gateway
  sql: SQL
  /** The address of the gateway as its redirect URI has it. */
  gatewayUrl: string
}

/** Starts a gateway with an identity provider. */
export async function createIdentityProviderFixture(
  provider: Issuing,
  environment: Record<string, string> = {},
): Promise<IdentityProviderFixture> {
  const gateway = await startGateway({
    environment: { ...environmentFor(provider), ...environment },
  })
  const sql = await openDatabase(gateway.dataDir)
  return {
    gateway,
    sql,
    gatewayUrl: gateway.url.replace('127.0.0.1', 'localhost'),
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

/** Begins a sign-in by the identity provider and returns the address there. Throws with the answer instead. */
export async function beginSignIn(browser: Browser): Promise<URL> {
  const { status, body } = await browser.send('POST /api/auth/sign-in/social', {
    provider: 'oidc',
    callbackURL: '/keys',
  })
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return new URL(String(body['url']))
}

/** Opens the address that ends a sign-in, and returns the path that it leads to. */
export async function endSignIn(browser: Browser, url: string): Promise<string | null> {
  const { pathname, search } = new URL(url)
  return (await browser.send(`GET ${pathname}${search}`)).location
}

/** Whether the browser has a session. */
export const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.send('GET /api/connections')).status === 200
