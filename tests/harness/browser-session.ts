import type { SQL } from 'bun'
import { parsed, type Json } from './http'
import type { Gateway } from './server'

export interface Page {
  status: number
  body: Json
  /** Where it leads, for a redirect. */
  location: string | null
}

/** What a browser does of its own: keeps cookies, and says where a request comes from. */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #origin: string

  constructor({ url }: Pick<Gateway, 'url'>) {
    this.#origin = url
  }

  /** Asks for `METHOD /path`, by the pages of `origin`, its own unless said. */
  async send(request: string, body?: Json, headers: Record<string, string> = {}): Promise<Page> {
    const [method = '', path = ''] = request.split(' ')
    const response = await fetch(path.startsWith('http') ? path : `${this.#origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(method !== 'GET' && { origin: this.#origin }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    const body_ = parsed(await response.text())
    return { status: response.status, body: body_, location: response.headers.get('location') }
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === '' || /max-age=0/i.test(line)) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}

export const password = 'a long enough password'

/** The links in mails to an address, newest first. */
export async function linksFor(sql: SQL, email: string): Promise<string[]> {
  const rows: { body: string }[] =
    await sql`select body from mail where recipient = ${email} order by id desc`
  return rows.flatMap(({ body }) => /^https?:\S+$/m.exec(body) ?? [])
}

/** A new account whose address is confirmed, signed in. Throws with what was answered instead. */
export async function signUp(gateway: Gateway, sql: SQL, email: string): Promise<Browser> {
  const browser = new Browser(gateway)
  const made = await browser.send('POST /api/auth/sign-up/email', { email, password, name: 'Ada' })
  const [link] = await linksFor(sql, email)
  const opened = link === undefined ? undefined : await browser.send(`GET ${link}`)
  if (opened?.status === 302 && opened.location?.includes('error') === false) return browser
  throw new Error(`${email} did not sign up: ${JSON.stringify({ made, link, opened })}`)
}
