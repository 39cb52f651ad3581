import { expect, setDefaultTimeout, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { waitForValue } from './fixture'
import { runCommand } from '../../harness/run-command'
import {
  allowLoopback,
  call,
  idIn,
  createCustomer,
  upstreamEnvironment,
  startUpstream,
  type Upstream,
} from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, type Json } from '../../harness/http'
import { sendOperatorRequest as operate } from '../../harness/operator'
import { newDataDir, startGateway, type Customer, type Gateway } from '../../harness/server'

setDefaultTimeout(120_000)

/** Returns a member whose organization serves one model by its connection, and pays for another by its pool. */
async function prepared(gateway: Gateway, upstream: Upstream) {
  await allowLoopback(gateway)
  const pricing = { input: 1, output: 1000 }
  for (const key of ['fake', 'other']) {
    const provider = { key, name: key, adapter: 'openai', base_url: upstream.url }
    await gateway.admin('POST', '/providers', provider)
    await gateway.admin('POST', '/models', { id: `${key}/m`, name: 'M', category: 'chat', pricing })
  }
  const platform = { name: 'Platform', provider: 'fake', api_key: 'sk-platform' }
  await gateway.admin('POST', '/connections', platform)
  const owner = await createCustomer(gateway)
  const id = idIn(await call(gateway, owner, 'POST /organizations', { name: 'Company' }))
  await call(gateway, owner, 'POST /connections', {
    name: 'Ours',
    provider: 'other',
    api_key: 'sk-ours',
    endpoint_url: upstream.url,
    scope: 'organization',
    organization_id: id,
  })
  const funding = { funding_source: 'organization', funding_organization_id: id }
  await call(gateway, owner, 'PUT /account/settings', funding)
  const granted = { organization_id: id, amount: 1, reason: 'For the test.' }
  await operate(gateway, 'POST /credits/grant', granted)
  return { owner, id }
}

const nanos = (usd: unknown) => Math.round(Number(usd) * 1e9)

/** What its pool has left, and what it used as its usage tells. */
async function booksOf(gateway: Gateway, owner: Customer, id: string) {
  const shown = await call(gateway, owner, `GET /organizations/${id}`)
  const { body } = await call(gateway, owner, `GET /organizations/${id}/usage?group_by=model`)
  const { by_model: models }: { by_model: Json[] } = JSON.parse(JSON.stringify(body['usage']))
  const used = Object.fromEntries(models.map((one) => [one['model'], one]))
  return { left: nanos(shown.body['credit_balance']), used }
}

test.each(['flush-before-commit', 'flush-after-commit'])(
  'I4: killed at %s, an organization’s usage is counted once, and its pool charged once',
  async (point) => {
    await using stack = new AsyncDisposableStack()
    const upstream = stack.use(startUpstream())
    const dataDir = await newDataDir()
    stack.defer(() => rm(dataDir, { recursive: true, force: true }))
    const environment = upstreamEnvironment(upstream)
    // The first batch is what the requests used.
    const killed = stack.use(
      await startGateway({ dataDir, environment: { ...environment, CRASH_AT: `${point}:1` } }),
    )
    const { owner, id } = await prepared(killed, upstream)
    const modelIds = Array.from({ length: 8 }, (_, at) => (at % 2 ? 'fake/m' : 'other/m'))
    const served = await Promise.all(
      modelIds.map((model) =>
        sendRequest(killed, { key: owner.key, body: { model, messages, max_tokens: 3 } }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      ),
    )
    await killed.exited
    expect(killed.output()).toContain(`CRASH_AT ${point}`)

    const again = stack.use(await startGateway({ dataDir, environment }))
    const sql = stack.use(await openDatabase(dataDir))
    const events = async (model: string) => {
      const [row] = await sql`
        select count(*) as requests, coalesce(sum(cost), 0) as cost from usage_event
        where organization_id = ${id} and model = ${model}`
      return { requests: Number(row.requests), cost: Number(row.cost) }
    }
    const seen = (model: string) =>
      served.filter((isServed, at) => isServed && modelIds[at] === model).length
    await waitForValue(async () => (await events('fake/m')).requests >= seen('fake/m'), true)
    await waitForValue(async () => (await events('other/m')).requests >= seen('other/m'), true)
    expect(seen('fake/m') + seen('other/m')).toBeGreaterThan(0)
    const { left, used } = await booksOf(again, owner, id)
    const [byPool, byConnection] = [await events('fake/m'), await events('other/m')]
    expect(left).toBe(1_000_000_000 - byPool.cost)
    expect([byPool.requests, nanos(used['fake/m']?.['cost_usd'])]).toEqual([
      Number(used['fake/m']?.['requests'] ?? 0),
      byPool.cost,
    ])
    expect(byConnection).toEqual({ requests: Number(used['other/m']?.['requests'] ?? 0), cost: 0 })
    expect(nanos(used['other/m']?.['cost_usd'])).toBeGreaterThanOrEqual(seen('other/m') * 3_005_000)
    expect(await runCommand('audit', { DATA_DIR: dataDir })).toMatchObject({ code: 0, err: '' })
  },
)
