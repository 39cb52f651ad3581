import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  allowLoopback,
  call,
  completion,
  idIn,
  createCustomer,
  upstreamEnvironment,
  startUpstream,
  type Upstream,
} from '../../harness/byok'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'
import { recordTimeFigure } from '../../../server/testing/figures'
import { eventuallyReads } from '../../../server/testing/eventually'

let nodes: TwoNodes
let upstream: Upstream

const model = 'fake/one'

beforeAll(async () => {
  upstream = startUpstream()
  nodes = await startTwoNodes({ environment: upstreamEnvironment(upstream) })
  const { a } = nodes
  await allowLoopback(a)
  await a.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  await a.admin('POST', '/models', {
    id: model,
    name: 'One',
    category: 'chat',
    pricing: { input: 1, output: 4 },
  })
  upstream.answer = ({ headers }) => completion(headers.get('authorization') ?? '')
})
afterAll(async () => {
  nodes.a.recorder.verify()
  nodes.b.recorder.verify()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

/** The key that a request went out with, or the code of its error. */
async function outcome(node: Gateway, { key }: Customer): Promise<string> {
  const { error, text } = await sendRequest(node, { key, body: { model, messages } })
  return error.code ?? /Bearer (sk-\w+)/.exec(text)?.[1] ?? text
}

/** Waits for an outcome. A lost notification would be made good after a minute, which is longer. */
async function soon(node: Gateway, customer: Customer, wanted: string): Promise<void> {
  const look = () => outcome(node, customer)
  await recordTimeFigure('connections on the other node', { atMost: 15_000 }, () =>
    eventuallyReads(look, (found) => found === wanted),
  )
}

const own = (api_key: string) => ({
  name: 'Mine',
  provider: 'fake',
  api_key,
  endpoint_url: upstream.url,
})

async function expectChanges(here: Gateway, there: Gateway): Promise<void> {
  const customer = await createCustomer(here)
  await soon(there, customer, 'model_access_denied')
  const id = idIn(await call(here, customer, 'POST /connections', own('sk-one')))
  expect(await outcome(here, customer)).toBe('sk-one')
  await soon(there, customer, 'sk-one')
  const path = `/connections/${id}`
  await call(here, customer, `POST ${path}/update-key`, { api_key: 'sk-two' })
  expect(await outcome(here, customer)).toBe('sk-two')
  await soon(there, customer, 'sk-two')
  await call(there, customer, `DELETE ${path}`)
  expect(await outcome(there, customer)).toBe('model_access_denied')
  await soon(here, customer, 'model_access_denied')
}

test('A08: a connection holds at once on the node that answered, and soon on the other', async () => {
  await expectChanges(nodes.a, nodes.b)
  await expectChanges(nodes.b, nodes.a)
})

test('A08: a suspended or removed member loses access to the organization', async () => {
  const { a, b } = nodes
  const [owner, member] = [await createCustomer(a), await createCustomer(a)]
  const made = await call(a, owner, 'POST /organizations', { name: 'Company', is_public: true })
  const path = `/organizations/${idIn(made)}`
  await call(a, owner, `PUT ${path}`, { auto_approve_requests: true })
  await call(a, owner, 'POST /connections', {
    ...own('sk-ours'),
    scope: 'organization',
    organization_id: made.body['id'],
  })
  await call(b, member, `POST ${path}/join`, {})
  await soon(b, member, 'sk-ours')
  await soon(a, member, 'sk-ours')
  const theirs = `${path}/members/${member.userId}`
  await call(a, owner, `PUT ${theirs}`, { status: 'suspended' })
  await soon(b, member, 'organization_required')
  await call(b, owner, `PUT ${theirs}`, { status: 'active' })
  await soon(a, member, 'sk-ours')
  await call(b, owner, `DELETE ${theirs}`)
  await soon(a, member, 'organization_required')
  await call(a, owner, `DELETE ${path}`)
  await soon(b, owner, 'model_access_denied')
})

test('A08: an organization that the operator suspends serves no request, on any node', async () => {
  const { a, b } = nodes
  const owner = await createCustomer(a)
  const made = await call(a, owner, 'POST /organizations', { name: 'Company' })
  const organization_id = idIn(made)
  await call(a, owner, 'POST /connections', {
    ...own('sk-shared'),
    scope: 'organization',
    organization_id,
  })
  await soon(b, owner, 'sk-shared')
  await a.admin('PUT', `/organizations/${organization_id}`, { status: 'suspended' })
  expect(await outcome(a, owner)).toBe('model_access_denied')
  await soon(b, owner, 'model_access_denied')
  await b.admin('PUT', `/organizations/${organization_id}`, { status: 'active' })
  await soon(a, owner, 'sk-shared')
})

test('D13: also when the listening connections were cut just before', async () => {
  await using sql = await openDatabase(nodes.a.dataDir)
  const customer = await createCustomer(nodes.a)
  const id = idIn(await call(nodes.a, customer, 'POST /connections', own('sk-cut')))
  await soon(nodes.b, customer, 'sk-cut')
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and (query like 'listen%'
        or (query = 'select 1' and application_name = 'tollgate' and state = 'idle'))`
  await call(nodes.a, customer, `DELETE /connections/${id}`)
  await soon(nodes.b, customer, 'model_access_denied')
})
