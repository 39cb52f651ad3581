import type { SQL } from 'bun'
import { isSignedIn } from './identity-provider-fixture'
import { Browser } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import {
  answerTo,
  createSigningKey,
  readRequest,
  sign,
  writeAssertion,
  writeResponse,
  type AssertionClaims,
  type SigningKey,
  type SignInRequest,
} from '../../harness/identity-providers/saml-stand-in'
import { startGateway, type Gateway } from '../../harness/server'

export const issuer = 'https://login.example.com/saml'
const signInUrl = 'https://login.example.com/saml/sign-in'

export interface SamlFixture extends AsyncDisposable {
  gateway: Gateway
  sql: SQL
  /** The key that the gateway knows, the one that it knows as the next, and one that it does not know. */
  keys: { current: SigningKey; next: SigningKey; strange: SigningKey }
  /** Begins a sign-in in a browser; returns the request at the provider. */
  begin: (browser: Browser) => Promise<SignInRequest>
  /** Sends a response to the gateway as a form of the provider's site does; returns where it leads. */
  post: (response: string, relayState: string) => Promise<string | null>
  /** Signs a person in, with an answer that differs from the faithful one. */
  enter: (email: string, answer?: Answer) => Promise<SignInResult>
}

/** An answer of the provider that differs from the faithful one. */
export interface Answer {
  claims?: Partial<AssertionClaims>
  key?: SigningKey
  /** Changes the response after it was signed. */
  change?: (response: string, claims: AssertionClaims) => string
}

export interface SignInResult {
  browser: Browser
  location: string | null
  isSignedIn: boolean
  /** The SAML response as XML. */
  response: string
  request: SignInRequest
}

async function begin(browser: Browser): Promise<SignInRequest> {
  const { status, body } = await browser.send('POST /api/auth/sign-in/social', {
    provider: 'saml',
    callbackURL: '/keys',
  })
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return readRequest(String(body['url']))
}

/** Starts a gateway with an identity provider over SAML, whose part the test plays. */
export async function createSamlFixture(
  environment: Record<string, string> = {},
): Promise<SamlFixture> {
  const [current, next, strange] = await Promise.all([
    createSigningKey(),
    createSigningKey(),
    createSigningKey(),
  ])
  const gateway = await startGateway({
    environment: {
      SAML_ISSUER: issuer,
      SAML_SIGN_IN_URL: signInUrl,
      SAML_CERTIFICATES: `${current.certificate}\n${next.certificate}`,
      SAML_NAME: 'Example Login',
      SAML_DOMAINS: 'example.com,required.example',
      SAML_REQUIRED_DOMAINS: 'required.example',
      ...environment,
    },
  })
  const sql = await openDatabase(gateway.dataDir)
  const post = async (response: string, relayState: string) => {
    const answer = await fetch(`${gateway.url}/api/auth/saml/acs`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: 'https://login.example.com', cookie: 'another=cookie' },
      body: new URLSearchParams({
        SAMLResponse: Buffer.from(response).toString('base64'),
        RelayState: relayState,
      }),
    })
    return answer.headers.get('location')
  }
  return {
    gateway,
    sql,
    keys: { current, next, strange },
    begin,
    post,
    async enter(
      email,
      { claims: changes = {}, key = current, change = (text: string) => text } = {},
    ) {
      const browser = new Browser(gateway)
      const request = await begin(browser)
      const claims = { ...answerTo(request, issuer, email), ...changes }
      const assertion = await sign(writeAssertion(claims), claims.id, key)
      const response = change(writeResponse(claims, assertion), claims)
      let location = await post(response, request.relayState)
      if (location?.startsWith('/api/auth/callback/')) {
        location = (await browser.send(`GET ${location}`)).location
      }
      return { browser, location, isSignedIn: await isSignedIn(browser), response, request }
    },
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}
