import type { SQL } from 'bun'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startBrowser } from './browser'
import { startMailServer, type MailServer } from '../api/alerts/mail-server'
import { waitFor } from '../api/alerts/fixture'
import { allowLoopback, upstreamEnvironment, startUpstream, type Upstream } from '../harness/byok'
import { openDatabase } from '../harness/database'
import { raiseApiRate } from '../money/funding/fixture'
import { paidBy } from '../api/payments/fixture'
import { startStripeDouble, type StripeDouble } from '../api/payments/stripe-double'
import { startRig, type Rig } from '../harness/server'
import { password } from '../harness/browser-session'

/** A visitor with a browser of their own. */
export interface Visitor {
  email: string
  context: BrowserContext
  page: Page
}

/** All that customers meet: a gateway and who it asks, mails to and is paid by. */
export interface JourneyFixture extends AsyncDisposable {
  rig: Rig
  sql: SQL
  /** Where browsers find the gateway. */
  address: string
  /** A provider that a customer has a key for. */
  upstream: Upstream
  double: StripeDouble
  mails: MailServer
  /** Returns a visitor who opened a page by its address. */
  arrive: (name: string, at?: string) => Promise<Visitor>
  /** Signs the visitor up on the open page of sign-in, by the mail that it sends. */
  signUp: (traveller: Visitor, name: string) => Promise<void>
  /** Both at once. */
  newcomer: (name: string) => Promise<Visitor>
}

/** Before a test's own end, so that what was waited for is said. */
const patienceMs = 30_000

export async function createJourneyFixture(): Promise<JourneyFixture> {
  await using opening = new AsyncDisposableStack()
  const double = opening.use(startStripeDouble())
  const mails = opening.use(await startMailServer())
  const upstream = opening.use(startUpstream())
  const rig = opening.use(
    await startRig({
      environment: {
        ...paidBy(double),
        ...upstreamEnvironment(upstream),
        SMTP_URL: mails.url,
        MAIL_FROM: 'Tollgate <tollgate@gate.example>',
        MAIL_SECONDS: '0.1',
        ALERT_SECONDS: '0.2',
      },
    }),
  )
  await allowLoopback(rig.gateway)
  await raiseApiRate(rig.gateway)
  const sql = opening.use(await openDatabase(rig.gateway.dataDir))
  const browser = await startBrowser()
  opening.defer(() => browser.close())
  const open = opening.move()
  const address = rig.gateway.url.replace('127.0.0.1', 'localhost')
  const arrive = (name: string, at = address) => arrived(browser, name, at)
  const signUp = async (traveller: Visitor, name: string) => {
    // All of them come from one address.
    await sql`delete from auth_rate_limit`
    await signedUp(traveller, name, mails)
  }
  return {
    rig,
    sql,
    address,
    upstream,
    double,
    mails,
    arrive,
    signUp,
    async newcomer(name) {
      const traveller = await arrive(name)
      await signUp(traveller, name)
      return traveller
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

async function arrived(browser: Browser, name: string, at: string): Promise<Visitor> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  await page.goto(at)
  return { email: `${name.toLowerCase()}@example.com`, context, page }
}

async function signedUp({ page, email }: Visitor, name: string, mails: MailServer) {
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Email').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Check your email').waitFor()
  await page.goto(await findLink(mails, email, 'Confirm your address'))
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
}

/** What a mail says, as its reader sees it. */
export function readable(text: string): string {
  const [head = '', ...body] = text.replaceAll('\r\n', '\n').split('\n\n')
  const words = body.join('\n\n')
  if (/^content-transfer-encoding: base64/im.test(head)) {
    return Buffer.from(words, 'base64').toString('utf8')
  }
  if (!/^content-transfer-encoding: quoted-printable/im.test(head)) return words
  const bytes = words
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** The words of the newest mail to an address that has a subject. */
export const findMail = ({ to }: MailServer, address: string, subject: string): Promise<string> =>
  waitFor(async () => {
    const found = to(address).findLast(({ text }) => text.includes(`\r\nSubject: ${subject}`))
    return found && readable(found.text)
  })

/** Where a mail leads. */
export async function findLink(
  mails: MailServer,
  address: string,
  subject: string,
): Promise<string> {
  const [link] = /https?:\S+\w/.exec(await findMail(mails, address, subject)) ?? []
  if (!link) throw new Error(`the mail "${subject}" has no link`)
  return link
}

/** Makes a key on its page, and takes it from where it is shown. */
export async function newKey(page: Page, name: string): Promise<string> {
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = await page.getByRole('textbox', { name: 'API key' }).inputValue()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('cell', { name }).first().waitFor()
  return key
}

/** Calls a model as curl would. Resolves with the id of the request; throws where it was refused. */
export async function callLikeCurl(address: string, key: string, model: string): Promise<string> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status}: ${text}`)
  return response.headers.get('x-request-id') ?? ''
}
