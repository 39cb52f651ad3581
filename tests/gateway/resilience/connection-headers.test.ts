import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { call, createModelFixture, idIn, problem, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/** Headers of connections; no answer and no log may contain their values. */
const access = 'canary-of-a-header-61c0'
const team = 'canary-of-a-header-88fe'
const model = 'fake/one'
let fixture: Fixture
let customer: Customer

beforeAll(async () => {
  fixture = await createModelFixture()
  for (const value of [access, team]) fixture.gateway.recorder.canary(value)
  customer = await fixture.newCustomer()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const fieldsOf = (headers?: Json) => ({
  name: crypto.randomUUID(),
  provider: 'fake',
  api_key: 'sk-of-this-connection',
  endpoint_url: `${fixture.upstream.url}/v1`,
  is_default: true,
  ...(headers && { network: { headers } }),
})

const send = (request: string, body?: Json) => call(fixture.gateway, customer, request, body)

/** A connection of the customer for the time of a test. */
async function connectWith(headers?: Json) {
  const created = await send('POST /connections', fieldsOf(headers))
  const path = `/connections/${idIn(created)}`
  return {
    created: created.body,
    path,
    [Symbol.asyncDispose]: async () => void (await send(`DELETE ${path}`)),
  }
}

const chat = (fields: Json = {}) =>
  sendRequest(fixture.gateway, {
    key: customer.key,
    body: { model, messages: [{ role: 'user', content: 'Hello' }], ...fields },
  })

/** The values of headers in the requests that reached the provider. */
const received = (...names: string[]) =>
  fixture.upstream.requests.map(({ headers }) => names.map((name) => headers.get(name)))

/** An answer as a stream. */
const streamed = () =>
  new Response(
    `data: ${JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
    })}\n\ndata: [DONE]\n\n`,
    { headers: { 'content-type': 'text/event-stream' } },
  )

describe('headers of a connection', () => {
  test('are sent with each request, streams and tests too, and never shown', async () => {
    await using connection = await connectWith({ 'X-Access': access, 'x-team': team })
    expect(connection.created['network']).toEqual({
      certificate_authorities: [],
      client_certificate: null,
      headers: ['x-access', 'x-team'],
    })
    expect((await chat()).status).toBe(200)
    fixture.upstream.answer = streamed
    expect((await chat({ stream: true })).status).toBe(200)
    fixture.upstream.answer = () => Response.json({ object: 'list', data: [{ id: 'm' }] })
    const tested = await send(`POST ${connection.path}/test`)
    expect(tested.body['success']).toBe(true)
    const sent = [access, team, 'Bearer sk-of-this-connection']
    expect(received('x-access', 'x-team', 'authorization')).toEqual([sent, sent, sent])
  })

  test('are sent for a platform connection as well', async () => {
    const { gateway } = fixture
    const created = await gateway.admin('POST', '/connections', fieldsOf({ 'x-access': access }))
    expect(created['network']).toMatchObject({ headers: ['x-access'], proxy: null })
    const payer = await gateway.customer({}, { credit: 1 })
    const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
    expect((await sendRequest(gateway, { key: payer.key, body })).status).toBe(200)
    expect(received('x-access')).toEqual([[access]])
    await gateway.admin('DELETE', `/connections/${String(created['id'])}`)
  })

  test('take the place of those that Tollgate sends by itself', async () => {
    await using _connection = await connectWith({ 'user-agent': 'team-a' })
    expect((await chat()).status).toBe(200)
    expect(received('user-agent')).toEqual([['team-a']])
  })

  test('are changed one by one: null removes one, and null in their place removes all', async () => {
    await using connection = await connectWith({ 'x-access': access, 'x-team': 'old' })
    const change = async (headers: Json | null) =>
      (await send(`PUT ${connection.path}`, { network: { headers } })).body['network']
    expect(await change({ 'X-Team': team, 'x-more': 'm' })).toMatchObject({
      headers: ['x-access', 'x-team', 'x-more'],
    })
    await chat()
    expect(await change({ 'x-more': null, 'x-access': null })).toMatchObject({
      headers: ['x-team'],
    })
    await chat()
    expect(await change(null)).toBeNull()
    await chat()
    expect(received('x-access', 'x-team', 'x-more')).toEqual([
      [access, team, 'm'],
      [null, team, null],
      [null, null, null],
    ])
  })

  test('stay with their address: for another one they are given again', async () => {
    await using connection = await connectWith({ 'x-access': access, 'x-team': team })
    const moved = { endpoint_url: `${fixture.upstream.url}/v2`, api_key: 'sk-of-this-connection' }
    const unchanged = await send(`PUT ${connection.path}`, {
      endpoint_url: `${fixture.upstream.url}/v1`,
      api_key: 'sk-of-this-connection',
    })
    expect(unchanged.body['network']).toMatchObject({ headers: ['x-access', 'x-team'] })
    const given = { ...moved, network: { headers: { 'x-team': team } } }
    const changed = await send(`PUT ${connection.path}`, given)
    expect(changed.body['network']).toMatchObject({ headers: ['x-team'] })
    await chat()
    const discarded = await send(`PUT ${connection.path}`, {
      ...moved,
      endpoint_url: `${fixture.upstream.url}/v3`,
    })
    expect(discarded.body['network']).toBeNull()
    await chat()
    expect(received('x-access', 'x-team')).toEqual([
      [null, team],
      [null, null],
    ])
  })

  test('are removed from the errors of a provider', async () => {
    await using connection = await connectWith({ 'x-access': access })
    fixture.upstream.answer = () =>
      Response.json({ error: { message: `x-access ${access} is not known` } }, { status: 400 })
    const answer = await chat()
    expect(answer.status).toBe(400)
    expect(answer.error.message).toContain('[secret] is not known')
    const tested = await send(`POST ${connection.path}/test`)
    expect(tested.body['message']).toContain('[secret]')
  })

  test('are sealed in the database; their names are not', async () => {
    await using connection = await connectWith({ 'x-access': access })
    await using database = await openDatabase(fixture.gateway.dataDir)
    const rows: Json[] = await database`
      select network::text, network_secret from connection
      where id = ${connection.path.split('/').at(-1) ?? ''}`
    expect(String(rows[0]?.['network'])).toContain('x-access')
    const stored = `${String(rows[0]?.['network'])}${String(rows[0]?.['network_secret'])}`
    expect(stored).not.toContain(access)
  })

  test('of an organization are in its audit log by name, and new values as a change', async () => {
    const organization = idIn(await send('POST /organizations', { name: 'Headers' }))
    const owner = { scope: 'organization', organization_id: organization }
    const created = await send('POST /connections', {
      ...fieldsOf({ 'x-access': access }),
      ...owner,
    })
    const path = `/connections/${idIn(created)}`
    await send(`PUT ${path}`, { network: { headers: { 'x-access': team } } })
    const trail = await send(`GET /organizations/${organization}/audit-trail?action=connection`)
    expect(trail.body['changes']).toMatchObject([
      { action: 'connection.changed', after: { headers: '[set]' } },
      { action: 'connection.created', after: { network: { header_names: ['x-access'] } } },
    ])
    await send(`DELETE ${path}`)
  })

  test('lead a customer to no private address', async () => {
    const refused = await send('POST /connections', {
      ...fieldsOf({ 'x-access': access }),
      endpoint_url: 'https://10.0.0.1/v1',
    })
    expect(problem(refused)).toEqual([400, 'endpoint_url', 'not_allowed'])
    await using _connection = await connectWith({ 'x-access': access })
    await fixture.gateway.admin('PUT', '/config', { allowed_private_networks: [] })
    try {
      expect((await chat()).status).toBe(502)
      expect(fixture.upstream.requests).toEqual([])
    } finally {
      const allowed = { allowed_private_networks: ['127.0.0.2/32'] }
      await fixture.gateway.admin('PUT', '/config', allowed)
    }
  })
})

describe('is rejected, with the name of the header:', () => {
  test.each<[string, Json, string, string]>([
    ...['Authorization', 'Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Cookie'].map(
      (name): [string, Json, string, string] => [name, { [name]: 'x' }, `.${name}`, 'not_allowed'],
    ),
    ['a header of a proxy', { 'proxy-authorization': 'x' }, '.proxy-authorization', 'not_allowed'],
    ['a count of hops', { 'x-tollgate-hops': '0' }, '.x-tollgate-hops', 'not_allowed'],
    ['a name with a space', { 'x y': 'x' }, '.x y', 'bad_format'],
    ['a name twice', { 'x-team': 'a', 'X-Team': 'b' }, '.X-Team', 'conflict'],
    ['a line break', { 'x-team': 'a\r\nx-other: b' }, '.x-team', 'bad_format'],
    ['a letter beyond ASCII', { 'x-team': 'ä' }, '.x-team', 'bad_format'],
    ['an empty value', { 'x-team': ' ' }, '.x-team', 'too_short'],
    ['a long value', { 'x-team': 'a'.repeat(4097) }, '.x-team', 'too_long'],
    [
      'more than 20',
      Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x-${at}`, 'a'])),
      '',
      'too_many',
    ],
    [
      'more than 8,192 characters',
      { 'x-a': 'a'.repeat(4096), 'x-b': 'b'.repeat(4096) },
      '',
      'too_long',
    ],
  ])('%s', async (...[, headers, at, issue]) => {
    const answer = await send('POST /connections', fieldsOf(headers))
    expect(problem(answer)).toEqual([400, `network.headers${at}`, issue])
  })

  test("the header of the provider's own credential", async () => {
    const { gateway } = fixture
    const provider = { key: 'keyed', name: 'Keyed', adapter: 'openai', auth: 'X-Key-Of-Ours' }
    await gateway.admin('POST', '/providers', provider)
    const fields = { ...fieldsOf({ 'x-key-of-ours': 'x' }), provider: 'keyed' }
    const answer = await send('POST /connections', fields)
    expect(problem(answer)).toEqual([400, 'network.headers.x-key-of-ours', 'not_allowed'])
    const created = await send('POST /connections', { ...fields, network: undefined })
    const path = `/connections/${idIn(created)}`
    const changed = await send(`PUT ${path}`, { network: { headers: { 'x-key-of-ours': 'x' } } })
    expect(problem(changed)).toEqual([400, 'network.headers.x-key-of-ours', 'not_allowed'])
    await send(`DELETE ${path}`)
  })
})
