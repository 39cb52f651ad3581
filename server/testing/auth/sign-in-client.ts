import type { Kysely } from 'kysely'
import { codeOf, secretIn } from './authenticator-app'
import { googleToken } from './other-services'
import type { SignIn } from '../../src/auth/sign-in/sign-in'
import type { Schema } from '../../src/platform/db/schema'
import { isObject } from '../../src/wire/json-body'

const address = 'http://localhost:8080'
const password = 'a long enough password'

let clients = 0

/** A browser at the endpoints of sign-in, without a server; each has an address of its own, as attempts are limited. */
export class SignInClient {
  readonly #signIn: SignIn
  readonly #db: Kysely<Schema>
  readonly #cookies = new Map<string, string>()
  readonly #address = `192.0.2.${(clients += 1)}`

  constructor(signIn: SignIn, db: Kysely<Schema>) {
    this.#signIn = signIn
    this.#db = db
  }

  async #send(method: 'GET' | 'POST', path: string, body?: object) {
    const url = path.startsWith('http') ? path : `${address}/api/auth${path}`
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const request = new Request(url, {
      method,
      headers: { cookie, origin: address, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = await this.#signIn.answer(request, this.#address)
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0/i.test(line)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    const text = await answer.text()
    const parsed: unknown = text === '' ? {} : JSON.parse(text)
    return {
      status: answer.status,
      location: answer.headers.get('location'),
      body: isObject(parsed) ? parsed : {},
    }
  }

  async #openMail(email: string) {
    const { body } = await this.#db
      .selectFrom('mail')
      .select('body')
      .where('recipient', '=', email)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    return this.#send('GET', /^https?:\S+$/m.exec(body)?.[0] ?? '')
  }

  account(email: string) {
    return this.#db
      .selectFrom('users')
      .select(['id', 'email_verified'])
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
  }

  /** Creates an account, confirms its address and is signed in to it. */
  async signUp(email: string) {
    await this.#send('POST', '/sign-up/email', { email, password, name: 'Ada' })
    await this.#openMail(email)
  }

  withPassword(email: string) {
    return this.#send('POST', '/sign-in/email', { email, password })
  }

  requestReset(email: string) {
    return this.#send('POST', '/request-password-reset', { email })
  }

  async withLink(email: string) {
    await this.#send('POST', '/sign-in/magic-link', { email, callbackURL: '/' })
    return this.#openMail(email)
  }

  /** Confirms an address by the link of a mail, which signs in. */
  async confirm(email: string) {
    await this.#send('POST', '/send-verification-email', { email, callbackURL: '/' })
    return this.#openMail(email)
  }

  async withGitHub() {
    const social = { provider: 'github', callbackURL: '/keys' }
    const { body } = await this.#send('POST', '/sign-in/social', social)
    const state = new URL(String(body['url'])).searchParams.get('state') ?? ''
    return this.#send('GET', `/callback/github?code=x&state=${encodeURIComponent(state)}`)
  }

  async withGoogleToken(email: string) {
    const idToken = { token: await googleToken(email) }
    return this.#send('POST', '/sign-in/social', { provider: 'google', idToken, callbackURL: '/' })
  }

  /** Resolves with the secret of the new second factor. */
  async enableFactor(): Promise<string> {
    const { body } = await this.#send('POST', '/two-factor/enable', { password })
    const secret = secretIn(body['totpURI'])
    const status = await this.withCode(codeOf(secret))
    if (status !== 200) throw new Error(`the second factor was not enabled: ${status}`)
    return secret
  }

  async withCode(code: string, options: { trustDevice?: boolean } = {}): Promise<number> {
    return (await this.#send('POST', '/two-factor/verify-totp', { code, ...options })).status
  }

  async changePassword(): Promise<number> {
    const body = {
      currentPassword: password,
      newPassword: password,
      revokeOtherSessions: true,
    }
    return (await this.#send('POST', '/change-password', body)).status
  }

  signOut() {
    return this.#send('POST', '/sign-out', {})
  }

  hasSessionCookie(): boolean {
    return [...this.#cookies.keys()].some((name) => name.endsWith('session_token'))
  }

  async isSignedIn(): Promise<boolean> {
    const { body } = await this.#send('GET', '/get-session')
    return isObject(body['session'])
  }
}
