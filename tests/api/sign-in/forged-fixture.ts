import type { JWTPayload } from 'jose'
import {
  beginSignIn,
  createIdentityProviderFixture,
  endSignIn,
  isSignedIn,
  type IdentityProviderFixture,
} from './identity-provider-fixture'
import { Browser } from '../../harness/browser-session'
import { ForgingProvider, type Signing } from '../../harness/identity-providers/forging-provider'

/** A sign-in whose tokens and answers differ from the right ones. */
export interface Forged {
  claims?: JWTPayload
  /** Claims that are left out. */
  without?: readonly string[]
  signing?: Signing
  userInfo?: Record<string, unknown>
  /** Parameters of the address that ends the sign-in, instead of the right ones. */
  query?: Record<string, string>
}

/** Returns claims without some of them. */
export const omitClaims = (claims: JWTPayload, names: readonly string[]): JWTPayload =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)))

/** A gateway with an identity provider that forges. */
export interface ForgedFixture extends IdentityProviderFixture {
  provider: ForgingProvider
  /** Signs in with a token of these claims, otherwise a right one; returns the path that it leads to. */
  enterWith: (
    forged: Forged,
  ) => Promise<{ browser: Browser; location: string | null; isSignedIn: boolean }>
}

export async function createForgedFixture(): Promise<ForgedFixture> {
  const provider = await ForgingProvider.open()
  const fixture = await createIdentityProviderFixture(provider)
  return {
    ...fixture,
    provider,
    async enterWith({ claims = {}, without = [], query = {}, ...answers }) {
      const browser = new Browser(fixture.gateway)
      const { searchParams } = await beginSignIn(browser)
      const right = provider.claimsFor(searchParams.get('nonce') ?? '')
      provider.next = { claims: omitClaims({ ...right, ...claims }, without), ...answers }
      const state = searchParams.get('state') ?? ''
      const ending = new URLSearchParams({ code: 'a-code', state, ...query })
      const path = `${fixture.gateway.url}/api/auth/callback/oidc?${ending.toString()}`
      const location = await endSignIn(browser, path)
      return { browser, location, isSignedIn: await isSignedIn(browser) }
    },
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      provider[Symbol.dispose]()
    },
  }
}
