import { afterAll, beforeAll, expect, test } from 'bun:test'
import { owned } from '../../../server/src/api/operator/users/owned'
import { runCommand } from '../../harness/run-command'
import { openDatabase, databaseUrl } from '../../harness/database'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let rig: Rig
beforeAll(async () => {
  rig = await startRig()
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const send = (customer: Customer, request: string, body?: object) => {
  const [method = '', path = ''] = request.split(' ')
  return rig.gateway.recorder.fetch(`${rig.gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
}

async function filled() {
  const customer = await rig.gateway.customer({ permissions: ['admin'] }, { credit: 5 })
  const model = await rig.model('ok')
  await customer.client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'A secret wish' }],
  })
  const ticket = { subject: 'A question', description: 'Why?' }
  const opened = await send(customer, 'POST /api/support/tickets', ticket)
  const id = String(JSON.parse(await opened.text()).id)
  const comment = { content: 'And when?' }
  const commented = await send(customer, `POST /api/support/tickets/${id}/comments`, comment)
  expect(commented.status).toBe(201)
  const prompt = { title: 'Mine', content: 'Write a poem.' }
  expect((await send(customer, 'POST /api/user/prompts', prompt)).status).toBe(201)
  const { email } = await rig.gateway.admin('GET', `/users/${customer.userId}`)
  return { customer, email: String(email) }
}

async function exportOf(id: string) {
  const { url, adminKey } = rig.gateway
  const response = await fetch(`${url}/api/admin/users/${id}/export`, {
    headers: { authorization: `Bearer ${adminKey}` },
  })
  return { response, text: await response.text() }
}

const booked = async ({ userId }: Customer) => {
  await using sql = await openDatabase(rig.gateway.dataDir)
  await eventually(async () => {
    const [row] = await sql`
      select (select count(*)::int from usage_event where user_id = ${userId}) as events,
        (select count(*)::int from request_log where user_id = ${userId}) as logs`
    return row.events > 0 && row.logs > 0
  })
}

test('an export has a line of JSON for each row that an account owns, and no secret', async () => {
  const { customer, email } = await filled()
  await booked(customer)
  const { response, text } = await exportOf(customer.userId)
  expect(response.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const of = (table: string) => lines.filter((line) => line.table === table).map(({ row }) => row)
  expect(of('users')).toMatchObject([{ id: customer.userId, email }])
  expect(of('prompt')).toMatchObject([{ content: 'Write a poem.' }])
  expect(of('ticket_comment')).toMatchObject([{ content: 'And when?' }])
  expect(of('usage_event')).toMatchObject([{ model: 'fake/ok' }])
  expect(of('ledger_entry').length).toBe(2)
  expect(of('api_key')[0]).not.toHaveProperty('hash')
  expect(text).not.toContain(customer.key)
  // Of no other account.
  expect(lines.filter(({ row }) => row.user_id && row.user_id !== customer.userId)).toEqual([])
})

test('asking for the head of an export does not block the export', async () => {
  const { userId } = await rig.gateway.customer()
  const { url, adminKey } = rig.gateway
  const headers = { authorization: `Bearer ${adminKey}` }
  for (let times = 0; times < 3; times++) {
    const head = await fetch(`${url}/api/admin/users/${userId}/export`, { method: 'HEAD', headers })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  }
  const { response, text } = await exportOf(userId)
  expect([response.status, text]).toEqual([200, expect.stringContaining(userId)])
})

test('an account that is erased is gone, its name from everywhere, its key within a second; its ledger stays', async () => {
  const { customer, email } = await filled()
  await booked(customer)
  await rig.gateway.admin('DELETE', `/users/${customer.userId}`)
  // Nodes that know the key hear of its end.
  await eventually(async () => (await send(customer, 'GET /v1/models')).status === 401)
  expect((await exportOf(customer.userId)).response.status).toBe(404)
  await using sql = await openDatabase(rig.gateway.dataDir)
  const tables = await sql`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE'
      and table_name <> 'audit_trail'`
  for (const { name } of tables) {
    const [{ count }] = await sql.unsafe(
      `select count(*)::int as count from "${name}" as one where position($1 in one::text) > 0`,
      [email],
    )
    expect([name, count]).toEqual([name, 0])
  }
  const [left] = await sql`
    select (select count(*)::int from request_log where user_id = ${customer.userId}) as logs,
      (select count(*)::int from ledger_entry where account_id = ${customer.userId}) as entries,
      (select count(*)::int from usage_event where user_id = ${customer.userId}) as events`
  expect(left).toMatchObject({ logs: 0, entries: 2, events: 1 })
  const { changes } = await rig.gateway.admin('GET', `/audit-trail?object_id=${customer.userId}`)
  expect(changes).toContainEqual(
    expect.objectContaining({ method: 'DELETE', object_kind: 'user', object_id: customer.userId }),
  )
  const { out } = await runCommand('audit', {
    DATABASE_URL: await databaseUrl(rig.gateway.dataDir),
  })
  expect(out).toContain('in order')
})

test('the owner of an organization cannot be erased, and keeps all data', async () => {
  const { customer } = await filled()
  const made = await send(customer, 'POST /api/organizations', { name: 'Ours' })
  expect(made.status).toBe(201)
  const erasing = rig.gateway.admin('DELETE', `/users/${customer.userId}`)
  await expect(erasing).rejects.toThrow(/400.*Transfer or delete them first/)
  expect((await send(customer, 'GET /v1/models')).status).toBe(200)
})

test('every table with rows of accounts is known to export and erasure', async () => {
  await using sql = await openDatabase(rig.gateway.dataDir)
  const tables = await sql`
    select relname as name from pg_class join pg_attribute on attrelid = pg_class.oid
    where attname = 'user_id' and relkind in ('r', 'p') and not relispartition
      and relnamespace = current_schema()::regnamespace`
  expect(
    tables.map(({ name }: { name: string }) => name).filter((name: string) => !owned[name]),
  ).toEqual([])
  const rows = await sql`
    select conrelid::regclass::text as name from pg_constraint
    where contype = 'f' and confrelid = 'users'::regclass and confdeltype = 'c'`
  const cascading = new Set(rows.map(({ name }: { name: string }) => name))
  for (const [name, { ends }] of Object.entries(owned)) {
    if (['users', 'automation_message'].includes(name)) continue
    expect([name, cascading.has(name)]).toEqual([name, ends === 'row'])
  }
})
