import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allowLoopback, call, createCustomer, idIn, problem } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Json } from '../../harness/http'
import { PrivateAuthority, type Issued } from '../../harness/private-authority'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { startTlsUpstream, type TlsUpstream } from '../../harness/tls-upstream'

/** Upstreams whose certificates are of a private authority; one of them wants a certificate of its clients. */
const stack = new AsyncDisposableStack()
const model = 'groq/m'
let gateway: Gateway
let open: TlsUpstream
let strict: TlsUpstream
let payer: Customer
let customer: Customer
let authority: PrivateAuthority
let one: Issued
let other: Issued

const expired = readFileSync(
  join(import.meta.dir, '../../../server/testing/certificates/expired.pem'),
  'utf8',
)
const expiredKey = readFileSync(
  join(import.meta.dir, '../../../server/testing/certificates/server.key'),
  'utf8',
)

const useFor = (issued: Issued) => ({
  certificate_authorities: authority.certificate,
  client_certificate: issued.certificate,
  client_key: issued.key,
})

beforeAll(async () => {
  authority = stack.use(new PrivateAuthority('Private'))
  one = authority.issue('one', 'DNS:one.example')
  other = authority.issue('other', 'DNS:other.example')
  const server = authority.issue('upstream', 'IP:127.0.0.2')
  open = stack.use(await startTlsUpstream(server))
  strict = stack.use(await startTlsUpstream(server, authority.certificate))
  const ports = `443,${open.port},${strict.port}`
  const environment = { MINIMUM_BALANCE_USD: '0', GROQ_API_KEY: '', USER_ENDPOINT_PORTS: ports }
  gateway = stack.use(await startGateway({ environment }))
  for (const { key } of [one, other]) gateway.recorder.canary(key.split('\n')[1] ?? '')
  await allowLoopback(gateway)
  await gateway.admin('POST', '/models', {
    id: model,
    name: 'M',
    category: 'chat',
    context_length: 8192,
    max_output_tokens: 100,
    pricing: { input: 1, output: 1 },
  })
  payer = await gateway.customer({}, { credit: 1 })
  customer = await createCustomer(gateway)
})
afterAll(() => stack.disposeAsync())
beforeEach(() => {
  gateway.recorder.verify()
  for (const { requests } of [open, strict]) requests.length = 0
})

const fieldsOf = ({ port }: TlsUpstream, network: Json) => ({
  name: crypto.randomUUID(),
  provider: 'groq',
  api_key: 'sk-of-a-private-server',
  endpoint_url: `https://127.0.0.2:${port}/openai/v1`,
  is_default: true,
  network,
})

const createPlatform = (upstream: TlsUpstream, network: Json) =>
  gateway.admin('POST', '/connections', fieldsOf(upstream, network))
const deletePlatform = (id: unknown) => gateway.admin('DELETE', `/connections/${String(id)}`)

async function chat({ key }: Customer) {
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
  return (await sendRequest(gateway, { key, body })).status
}

describe('a connection of the operator', () => {
  test.each<[string, () => TlsUpstream, () => Json, number]>([
    ['without the authority', () => open, () => ({}), 502],
    ['with it', () => open, () => ({ certificate_authorities: authority.certificate }), 200],
    [
      'without a client certificate',
      () => strict,
      () => ({ certificate_authorities: authority.certificate }),
      502,
    ],
    ['with a client certificate', () => strict, () => useFor(one), 200],
  ])('%s', async (...[, upstream, network, status]) => {
    const { id } = await createPlatform(upstream(), network())
    expect(await chat(payer)).toBe(status)
    expect(upstream().requests).toHaveLength(status === 200 ? 1 : 0)
    const tested = await gateway.admin('POST', `/connections/${String(id)}/test`, {})
    expect(tested['success']).toBe(status === 200)
    await deletePlatform(id)
  })

  test('shows certificates by subject, end and fingerprint, and no key', async () => {
    const created = await createPlatform(strict, useFor(one))
    expect(created['network']).toEqual({
      certificate_authorities: [
        {
          subject: 'CN=Private',
          expires_at: expect.any(String),
          fingerprint: expect.stringMatching(/^[\da-f]{64}$/),
        },
      ],
      client_certificate: {
        subject: 'CN=one',
        expires_at: expect.any(String),
        fingerprint: expect.stringMatching(/^[\da-f]{64}$/),
      },
      headers: [],
      proxy: null,
    })
    const listed = await gateway.admin('GET', `/connections/${String(created['id'])}`)
    expect(listed['network']).toEqual(created['network'])
    await deletePlatform(created['id'])
  })

  test('never uses a socket that another certificate has opened', async () => {
    const { id } = await createPlatform(strict, useFor(one))
    expect([await chat(payer), await chat(payer)]).toEqual([200, 200])
    const path = `/connections/${String(id)}`
    const { certificate, key } = other
    await gateway.admin('PUT', path, {
      network: { client_certificate: certificate, client_key: key },
    })
    expect(await chat(payer)).toBe(200)
    expect(strict.requests.map(({ client }) => client)).toEqual(['one', 'one', 'other'])
    await gateway.admin('PUT', path, { network: { client_certificate: null } })
    expect(await chat(payer)).toBe(502)
    await gateway.admin('PUT', path, { network: null })
    const { network } = await gateway.admin('GET', path)
    expect(network).toBeNull()
    await deletePlatform(id)
  })

  test('has its key sealed in the database, for its row and column', async () => {
    const { id } = await createPlatform(strict, useFor(one))
    await using database = await openDatabase(gateway.dataDir)
    const rows: Json[] = await database`
      select network::text, network_secret, network_secret_key_id, secret_key_id
      from connection where id = ${String(id)}`
    const [row] = rows
    expect(row?.['network_secret_key_id']).toBe(row?.['secret_key_id'])
    const stored = `${String(row?.['network'])}${String(row?.['network_secret'])}`
    expect(stored).toContain('BEGIN CERTIFICATE')
    expect(stored).not.toContain('PRIVATE KEY')
    await deletePlatform(id)
  })
})

describe("a customer's own connection", () => {
  test('has an authority and a client certificate of its own', async () => {
    const fields = fieldsOf(strict, useFor(other))
    const made = await call(gateway, customer, 'POST /connections', fields)
    expect(made.body).toMatchObject({ network: { client_certificate: { subject: 'CN=other' } } })
    expect(await chat(customer)).toBe(200)
    expect(strict.requests.map(({ client }) => client)).toEqual(['other'])
    await call(gateway, customer, `DELETE /connections/${idIn(made)}`)
  })

  test('still has to name its host in the certificate', async () => {
    using stranger = new PrivateAuthority('Stranger')
    const wrong = stranger.issue('upstream', 'IP:127.0.0.3')
    await using upstream = await startTlsUpstream(wrong)
    await using second = await startGateway({
      environment: { MINIMUM_BALANCE_USD: '0', USER_ENDPOINT_PORTS: String(upstream.port) },
    })
    await allowLoopback(second)
    const { key } = await createCustomer(second)
    const network = { certificate_authorities: stranger.certificate }
    const made = await call(second, { key }, 'POST /connections', fieldsOf(upstream, network))
    const tested = await call(second, { key }, `POST /connections/${idIn(made)}/test`)
    expect(tested.body).toMatchObject({ success: false })
    expect(upstream.requests).toEqual([])
  })
})

describe('is rejected, with the name of the field:', () => {
  test.each<[string, () => Json, string, string]>([
    [
      'an authority that is not a certificate',
      () => ({ certificate_authorities: 'none' }),
      'certificate_authorities',
      'bad_format',
    ],
    [
      'an authority that has expired',
      () => ({ certificate_authorities: expired }),
      'certificate_authorities',
      'bad_format',
    ],
    [
      'a client certificate that is a key',
      () => ({ client_certificate: one.key, client_key: one.key }),
      'client_certificate',
      'bad_format',
    ],
    [
      'a client certificate that has expired',
      () => ({ client_certificate: expired, client_key: expiredKey }),
      'client_certificate',
      'bad_format',
    ],
    [
      'a client certificate without a key',
      () => ({ client_certificate: one.certificate }),
      'client_key',
      'required',
    ],
    [
      'a key without a client certificate',
      () => ({ client_key: one.key }),
      'client_certificate',
      'required',
    ],
    [
      'a key that is a certificate',
      () => ({ client_certificate: one.certificate, client_key: one.certificate }),
      'client_key',
      'bad_format',
    ],
    [
      'the key of another certificate',
      () => ({ client_certificate: one.certificate, client_key: other.key }),
      'client_key',
      'conflict',
    ],
  ])('%s', async (...[, network, field, issue]) => {
    const answer = await call(gateway, customer, 'POST /connections', fieldsOf(open, network()))
    expect(problem(answer)).toEqual([400, `network.${field}`, issue])
    expect(answer.text).not.toContain('PRIVATE KEY')
    const request = { path: '/api/admin/connections', key: gateway.adminKey }
    const refused = await sendRequest(gateway, { ...request, body: fieldsOf(open, network()) })
    expect(problem(refused)).toEqual([400, `network.${field}`, issue])
  })
})
