import type { Page } from 'playwright-core'
import { startSignedIn, type SignedIn } from './signed-in'
import { exactUsd, usd } from '../../dashboard/src/format/money'
import type { RigOptions } from '../harness/server'
import { dayMs, seedPeople, type SeedPerson } from '../seed/plan'
import type { SeedAccount } from '../seed/people'
import { seed, type Seeded } from '../seed/seed'

/** A seeded installation whose operator has a browser. */
export interface SeededFixture extends AsyncDisposable {
  dashboard: SignedIn
  seeded: Seeded
  /** The first and the last day that have request logs. */
  firstDay: string
  lastDay: string
  /** The account of a person of the plan, by the position there. */
  accountOf: (position: number) => SeedAccount
  /** Signs a person of the plan in by a link, in a browser context of its own. */
  signInAs: (position: number) => Promise<Page>
}

export const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Formats nano-dollars as tables do. */
export const amount = (nanos: string | number) => usd(Number(nanos) / 1e9)
/** Formats nano-dollars as a request does. */
export const exactAmount = (nanos: string | number) => exactUsd(Number(nanos) / 1e9)
export const count = (value: string | number) => Number(value).toLocaleString('en-US')

/** Starts an installation, and seeds it with so many requests of 30 days. */
export async function startSeeded(
  requests: number,
  options: RigOptions = {},
): Promise<SeededFixture> {
  await using stack = new AsyncDisposableStack()
  const dashboard = stack.use(await startSignedIn(options))
  await dashboard.operate()
  const seeded = await seed(dashboard.gateway, requests)
  const find = (person: SeedPerson | undefined) => person && seeded.people.accounts.get(person)
  const accountOf = (position: number) => {
    const account = find(seedPeople[position])
    if (!account) throw new Error(`person ${position} has no account`)
    return account
  }
  const opened = stack.move()
  return {
    dashboard,
    seeded,
    firstDay: dayOf(seeded.fromMs),
    lastDay: dayOf(seeded.toMs - dayMs),
    accountOf,
    signInAs: (position) => signIn(dashboard, accountOf(position)),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function signIn(dashboard: SignedIn, { userId }: SeedAccount): Promise<Page> {
  const { link } = await dashboard.gateway.admin('POST', `/users/${userId}/sign-in-link`)
  const page = await (await dashboard.stranger()).newPage()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const path = String(link)
  await page.goto(`${dashboard.address}${path.slice(path.indexOf('/api/'))}`)
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  return page
}
