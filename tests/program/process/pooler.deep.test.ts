import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { messages, sendRequest } from '../../harness/http'
import { pgbouncer, startPgbouncer, type PoolerOptions } from '../../harness/pgbouncer'
import { startPostgres, type PostgresServer } from '../../harness/postgres-server'
import { runCommand } from '../../harness/run-command'
import { newDataDir, startRig } from '../../harness/server'
import { launch } from './launch'

setDefaultTimeout(120_000)

const timeouts = ['statement_timeout', 'idle_in_transaction_session_timeout']
const needs = 'needs pgbouncer'
const stack = new AsyncDisposableStack()
let plain: PostgresServer
/** A server whose role has the timeouts by itself, so that a pooler cannot lose them. */
let withTimeouts: PostgresServer
beforeAll(async () => {
  plain = stack.use(await startPostgres())
  withTimeouts = stack.use(await startPostgres())
  await using admin = withTimeouts.connectAdmin()
  for (const name of timeouts) await admin.unsafe(`alter role tollgate set ${name} = '5s'`)
})
afterAll(() => stack.disposeAsync(), 30_000)

/** The settings of a node behind a pooler, in a data directory of its own. */
async function behind(server: PostgresServer, options: PoolerOptions) {
  const pooler = stack.use(await startPgbouncer(server, options))
  const dataDir = await newDataDir()
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
  return { DATA_DIR: dataDir, DATABASE_URL: pooler.url, ENCRYPTION_KEY: key }
}

/** Starts a server that does not come up; returns how it ended. */
async function failedStart(environment: Record<string, string>) {
  await using server = launch(environment)
  return { code: await server.exited, err: server.err() }
}

test.skipIf(!pgbouncer).each([
  {
    name: 'that rejects timeouts',
    server: () => plain,
    ignored: [],
    reason: /leads through a pooler that rejects statement_timeout/,
  },
  {
    name: 'that drops timeouts',
    server: () => plain,
    ignored: timeouts,
    reason: /ignores idle_in_transaction_session_timeout and statement_timeout/,
  },
  {
    name: 'that has the timeouts',
    server: () => withTimeouts,
    ignored: timeouts,
    reason: /passes no notifications on/,
  },
])(
  `D14: behind a pooler in transaction mode $name a start ends with the reason (${needs})`,
  async ({ server, ignored, reason }) => {
    const settings = await behind(server(), { mode: 'transaction', ignored })
    const { code, err } = await failedStart(settings)
    expect([code, err]).toEqual([1, expect.stringMatching(reason)])
    const { out } = await runCommand('doctor', settings)
    expect(out).toMatch(reason)
  },
)

test.skipIf(!pgbouncer)(
  `D14: behind a pooler in session mode that passes timeouts on, Tollgate serves and books (${needs})`,
  async () => {
    const settings = await behind(withTimeouts, { mode: 'session', ignored: timeouts })
    await using rig = await startRig({ dataDir: settings.DATA_DIR, environment: settings })
    const model = await rig.model('ok')
    const { key } = await rig.gateway.customer({}, { credit: 5 })
    const { status } = await sendRequest(rig.gateway, { key, body: { model, messages } })
    expect(status).toBe(200)
    const { code, out } = await runCommand('audit', settings)
    expect([code, out]).toEqual([0, expect.stringContaining('in order')])
  },
)
