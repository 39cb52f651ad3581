import type { SQL } from 'bun'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startBrowser } from './browser'
import { startMailServer, type MailServer } from '../alerts/mail-server'
import { until } from '../alerts/stage'
import { allowLoopback, reaching, startUpstream, type Upstream } from '../connections/stage'
import { openDatabase } from '../database'
import { askAsOftenAsLiked } from '../funding/stage'
import { paidBy } from '../payments/stage'
import { startStripeDouble, type StripeDouble } from '../payments/stripe-double'
import { startRig, type Rig } from '../rig'
import { password } from '../sign-in/browser'

/** Somebody with a browser of their own. */
export interface Traveller {
  email: string
  context: BrowserContext
  page: Page
}

/** All that customers meet: a gateway and who it asks, mails to and is paid by. */
export interface Journeys extends AsyncDisposable {
  rig: Rig
  sql: SQL
  /** Where browsers find the gateway. */
  address: string
  /** A provider that a customer has a key for. */
  upstream: Upstream
  double: StripeDouble
  mails: MailServer
  /** Somebody in front of a page that they came to by its address. */
  arrive: (name: string, at?: string) => Promise<Traveller>
  /** Signs somebody up on the page of sign-in where they are, by the mail that they get. */
  signUp: (traveller: Traveller, name: string) => Promise<void>
  /** Both at once. */
  newcomer: (name: string) => Promise<Traveller>
}

/** Before a test's own end, so that what was waited for is said. */
const patienceMs = 20_000

export async function openJourneys(): Promise<Journeys> {
  await using opening = new AsyncDisposableStack()
  const double = opening.use(startStripeDouble())
  const mails = opening.use(await startMailServer())
  const upstream = opening.use(startUpstream())
  const rig = opening.use(
    await startRig({
      environment: {
        ...paidBy(double),
        ...reaching(upstream),
        SMTP_URL: mails.url,
        MAIL_FROM: 'Tollgate <tollgate@gate.example>',
        MAIL_SECONDS: '0.1',
        ALERT_SECONDS: '0.2',
      },
    }),
  )
  await allowLoopback(rig.gateway)
  await askAsOftenAsLiked(rig.gateway)
  const sql = opening.use(await openDatabase(rig.gateway.dataDir))
  const browser = await startBrowser()
  opening.defer(() => browser.close())
  const open = opening.move()
  const address = rig.gateway.url.replace('127.0.0.1', 'localhost')
  const arrive = (name: string, at = address) => arrived(browser, name, at)
  const signUp = async (traveller: Traveller, name: string) => {
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

async function arrived(browser: Browser, name: string, at: string): Promise<Traveller> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  await page.goto(at)
  return { email: `${name.toLowerCase()}@example.com`, context, page }
}

async function signedUp({ page, email }: Traveller, name: string, mails: MailServer) {
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Email').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Check your email').waitFor()
  await page.goto(await linkTo(mails, email, 'Confirm your address'))
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
export const mailTo = ({ to }: MailServer, address: string, subject: string): Promise<string> =>
  until(async () => {
    const found = to(address).findLast(({ text }) => text.includes(`\r\nSubject: ${subject}`))
    return found && readable(found.text)
  })

/** Where a mail leads. */
export async function linkTo(mails: MailServer, address: string, subject: string): Promise<string> {
  const [link] = /https?:\S+\w/.exec(await mailTo(mails, address, subject)) ?? []
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
