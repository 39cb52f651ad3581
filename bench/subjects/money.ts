import type { SQL } from 'bun'
import { join } from 'node:path'
import { canned } from '../upstream/answers'
import type { Provider } from '../upstream/provider'
import type { Verdict } from './subject'

/** The location of a gateway's ledger. */
export interface Address {
  /** Environment for `tollgate audit`. */
  environment: Record<string, string>
  open: () => Promise<SQL & AsyncDisposable>
}

/** The prices at which all models are registered: nano-dollars a token. */
const inputPrice = 1000
const outputPrice = 4000

/** Computes the amount due to the provider, by its own count of complete answers. */
async function billOf(provider: Provider) {
  const bill = Object.entries(await provider.bill())
  const sum = (of: (entry: (typeof bill)[number]) => number) =>
    bill.reduce((total, entry) => total + of(entry), 0)
  return {
    answers: sum(([, { answers }]) => answers),
    cut: sum(([, { cut }]) => cut),
    nanos: sum(([model, { answers, cut }]) => {
      const { promptTokens = 0, completionTokens = 0 } = canned[model] ?? {}
      return (answers - cut) * (promptTokens * inputPrice + completionTokens * outputPrice)
    }),
  }
}

/** Reads what was booked. Amounts are nano-dollars. */
async function ledgerOf(sql: SQL) {
  const [events] = await sql`
    select count(*)::int as rows, coalesce(sum(cost) filter (where not estimated), 0)::text as exact,
      (count(*) filter (where estimated))::int as estimated,
      coalesce(sum(cost), 0)::text as cost, coalesce(sum(written_off), 0)::text as lost
    from usage_event`
  const [logs] = await sql`select count(*)::int as rows from request_log`
  const [entries] = await sql`
    select coalesce(-sum(e.amount), 0)::text as charged
    from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
    join credit_account a on a.id = e.account_id
    where t.kind = 'usage' and a.owner not like 'house:%'`
  const [below] = await sql`
    select count(*)::int as rows from credit_account
    where owner not like 'house:%' and (posted < 0 or posted < leased)`
  return {
    rows: Number(events.rows),
    estimated: Number(events.estimated),
    exact: Number(events.exact),
    owed: Number(events.cost) - Number(events.lost),
    charged: Number(entries.charged),
    logs: Number(logs.rows),
    below: Number(below.rows),
  }
}

const settledMs = 30_000

/** Reconciles ledger, provider and load. Waits until everything is booked, up to half a minute. */
export async function checkMoney(
  { open }: Address,
  provider: Provider,
  requests: number,
): Promise<Verdict[]> {
  await using sql = await open()
  const bill = await billOf(provider)
  const deadline = performance.now() + settledMs
  let ledger = await ledgerOf(sql)
  while ((ledger.rows < bill.answers || ledger.logs < requests) && performance.now() < deadline) {
    await Bun.sleep(500)
    ledger = await ledgerOf(sql)
  }
  const { rows, logs, estimated, exact, owed, charged, below } = ledger
  return [
    {
      promise: 'the ledger has charged what the provider bills',
      holds: exact === bill.nanos && owed === charged && estimated === bill.cut,
      found:
        `${exact} nano-dollars booked, ${bill.nanos} billed; ${charged} charged of ${owed}; ` +
        `${estimated} estimates for ${bill.cut} answers that were cut`,
    },
    { promise: 'no balance is below zero', holds: below === 0, found: `${below} accounts` },
    {
      promise: 'every request is one log row, every attempt one usage event',
      holds: logs === requests && rows === bill.answers,
      found: `${requests} requests, ${logs} log rows; ${bill.answers} at the provider, ${rows} events`,
    },
  ]
}

/** Runs `tollgate audit` after the load. */
export async function auditOf({ environment }: Address): Promise<Verdict> {
  const root = join(import.meta.dir, '../..')
  const { PATH = '', HOME = '' } = process.env
  const audit = Bun.spawn([process.execPath, 'server/src/commands/audit.ts'], {
    cwd: root,
    env: { PATH, HOME, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = await audit.stdout.text()
  const code = await audit.exited
  const found = output.trim().split('\n').at(-1) ?? ''
  return { promise: 'tollgate audit finds nothing', holds: code === 0, found }
}
