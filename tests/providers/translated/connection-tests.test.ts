import { generateKeyPairSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { openFront, type Front } from './front'
import { sendOperatorRequest } from '../../harness/operator'
import { upstreamSecret } from '../../harness/server'

/** Tests of connections to clouds that have no list of models, or one that is not theirs. */

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({ VERTEX_TOKEN_URL: `${url}/token` }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** Tests a new connection; what came of it, and what it says of itself afterwards. */
async function tested(provider: string, path: string, fields: object = {}) {
  const made = await sendOperatorRequest(front.gateway, 'POST /connections', {
    name: 'c',
    provider,
    api_key: upstreamSecret,
    endpoint_url: `${front.url}${path}`,
    ...fields,
  })
  const connection = `/connections/${String(made.body['id'])}`
  const { status, body } = await sendOperatorRequest(front.gateway, `POST ${connection}/test`)
  expect(status).toBe(200)
  const after = await sendOperatorRequest(front.gateway, `GET ${connection}`)
  expect(after.body['status']).toBe(body['status'])
  await sendOperatorRequest(front.gateway, `DELETE ${connection}`)
  return body
}

const json = (status: number, body: object) => Response.json(body, { status })

test('Bedrock: a request for no model shows that the pair of keys is known', async () => {
  const pair = { api_key: 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
  front.answer = () => json(400, { message: 'The provided model identifier is invalid.' })
  const good = await tested('bedrock', '', { ...pair, options: { region: 'eu-west-1' } })
  expect(good).toMatchObject({ success: true, status: 'active', models_found: 0 })
  const [seen] = front.requests
  expect(seen?.headers.get('authorization')).toContain('/eu-west-1/bedrock/aws4_request')
  front.answer = () => json(403, { message: 'The request signature does not match.' })
  const bad = await tested('bedrock', '', pair)
  expect(bad).toMatchObject({ success: false, status: 'error' })
  expect(bad['message']).toContain('403')
})

test('Vertex AI: a token is got, and the tokens of a word are counted', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const api_key = JSON.stringify({
    type: 'service_account',
    project_id: 'p-1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'gate@p-1.iam.gserviceaccount.com',
  })
  let tokenStatus = 200
  front.answer = ({ path }) =>
    path === '/token'
      ? json(tokenStatus, { access_token: 'ya29.token', expires_in: 3600 })
      : json(200, { totalTokens: 1 })
  const place = '/v1/projects/p-1/locations/global'
  const good = await tested('vertex', place, { api_key })
  expect(good).toMatchObject({ success: true, status: 'active', models_found: 0 })
  const [, counted] = front.requests
  expect(counted?.path).toBe(`${place}/publishers/google/models/gemini-2.5-flash:countTokens`)
  expect(counted?.headers.get('authorization')).toBe('Bearer ya29.token')
  tokenStatus = 400
  const other = api_key.replace('gate@', 'other@')
  const bad = await tested('vertex', place, { api_key: other })
  expect(bad).toMatchObject({ success: false, status: 'error', models_found: 0 })
})

test('Azure: the dated surface is queried, and its deployments are the configured ones', async () => {
  const options = { api_version: '2024-10-21', deployments: { 'gpt-4o': 'mine', 'gpt-4.1': 'b' } }
  front.answer = () => json(200, { data: [{ id: 'gpt-35-turbo' }] })
  const good = await tested('azure', '', { options })
  expect(good).toMatchObject({ success: true, models_found: 2 })
  expect(front.requests[0]?.path).toBe('/openai/models?api-version=2024-10-21')
  expect(front.requests[0]?.headers.get('api-key')).toBe(upstreamSecret)
  front.answer = () => json(401, { error: { code: '401', message: 'Access denied.' } })
  expect(await tested('azure', '', { options })).toMatchObject({ success: false })
})
