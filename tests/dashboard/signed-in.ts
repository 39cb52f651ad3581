import type { SQL } from 'bun'
import type { BrowserContext, Page } from 'playwright-core'
import { startBrowser } from './browser'
import { openDatabase } from '../harness/database'
import { raiseApiRate } from '../money/funding/fixture'
import { startGateway, type Gateway, type RigOptions } from '../harness/server'
import { mailEnvironment } from '../harness/mail-environment'
import { signUp, type Browser as Account } from '../harness/browser-session'
import { eventually } from '../../server/testing/eventually'

/** A gateway, an account of it, and a browser where that is signed in. */
export interface SignedIn extends AsyncDisposable {
  gateway: Gateway
  sql: SQL
  /** Opens a browser context without a session, in the same program. */
  stranger: () => Promise<BrowserContext>
  /** The browser of the account. */
  context: BrowserContext
  /** What the account's browser asks for without a page. */
  account: Account
  /** Where the browser finds the gateway: cookies belong to the name in it. */
  address: string
  /** Asks a model, as a client with the account's key does. Resolves with the request's id, once the logs have it. */
  call: (model: string, content?: string) => Promise<string>
  /** Asks a model so often, one call after the other. Resolves once the logs have all of them. */
  callOften: (model: string, times: number) => Promise<void>
  /** A page, by its path. */
  open: (path: string) => Promise<Page>
  /** From now on the account operates the gateway. */
  operate: () => Promise<void>
}

const email = 'ada@example.com'

/** Unless it says otherwise, the gateway has a mail server. */
export async function startSignedIn(options: RigOptions = {}): Promise<SignedIn> {
  const stack = new AsyncDisposableStack()
  const environment = { ...mailEnvironment, ...options.environment }
  const gateway = stack.use(await startGateway({ ...options, environment }))
  await raiseApiRate(gateway)
  const address = gateway.url.replace('127.0.0.1', 'localhost')
  const sql = stack.use(await openDatabase(gateway.dataDir))
  const browser = await startBrowser()
  stack.defer(() => browser.close())
  const account = await signUp({ ...gateway, url: address }, sql, email)
  const { body } = await account.send('POST /api/account/keys', { name: 'Mine' })
  const context = await browser.newContext({ acceptDownloads: true })
  await context.addCookies(
    [...account.cookies].map(([name, value]) => ({ name, value, url: address })),
  )
  const ask = (model: string, content = 'Hello') =>
    call(gateway, String(body['key']), { model, content })
  return {
    gateway,
    sql,
    context,
    stranger: () => browser.newContext(),
    account,
    address,
    async call(model, content) {
      const id = await ask(model, content)
      await awaitLog(sql, id)
      return id
    },
    async callOften(model, times) {
      let id = ''
      for (let count = 0; count < times; count += 1) id = await ask(model)
      await awaitLog(sql, id)
    },
    async open(path) {
      const page = await context.newPage()
      await page.emulateMedia({ reducedMotion: 'reduce' })
      await page.goto(`${address}${path}`)
      return page
    },
    async operate() {
      await sql`update users set is_operator = true where email = ${email}`
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Logs are written a moment after the answer; a page that was loaded before would not have the request. */
export const awaitLog = (sql: SQL, id: string) =>
  eventually(async () => (await sql`select 1 from request_log where id = ${id}`).length > 0)

async function call(
  { url }: Gateway,
  key: string,
  { model, content }: { model: string; content: string },
): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  })
  await response.text()
  return response.headers.get('x-request-id') ?? ''
}

/** Loading a page again takes seconds on a busy machine. */
const reloadsMs = 60_000
/** Of one load: what a page shows may come after a silence of its network. */
const looks = 5

/** Loads a page again until something is there. Throws where it never is. */
export async function reloadUntil(page: Page, isThere: () => Promise<boolean>): Promise<void> {
  const isShown = async () => {
    for (let look = 1; look <= looks; look += 1) {
      if (await isThere()) return true
      await Bun.sleep(50 * look)
    }
    await page.reload()
    await page.waitForLoadState('networkidle')
    return false
  }
  await eventually(isShown, reloadsMs)
}
