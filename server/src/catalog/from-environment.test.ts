import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'bun:test'
import { createEnvironmentConnections } from './from-environment'
import { sampleProvider } from '../../testing/catalog/samples'

const fake = sampleProvider({ keyVariables: ['FAKE_API_KEY', 'FAKE_TOKEN'] })

const cloud = sampleProvider({
  key: 'cloud',
  baseUrl: 'https://api.cloud.example/{account}/v1',
  variables: { account: 'CLOUD_ACCOUNT' },
  keyVariables: ['CLOUD_API_KEY'],
})

test('a provider without a key in the environment has no connection', () => {
  expect(createEnvironmentConnections({ OTHER_API_KEY: 'x', FAKE_API_KEY: '' }, [fake])).toEqual([])
})

test('the first of its variables that is set makes the connection, and names it', () => {
  const environment = { FAKE_API_KEY: 'sk-1', FAKE_TOKEN: 'sk-2' }
  const [first] = createEnvironmentConnections(environment, [fake])
  expect(first).toMatchObject({ provider: 'fake', name: 'FAKE_API_KEY', secret: 'sk-1' })
  const [second] = createEnvironmentConnections({ FAKE_TOKEN: 'sk-2' }, [fake])
  expect(second).toMatchObject({ provider: 'fake', name: 'FAKE_TOKEN', secret: 'sk-2' })
  expect(first?.id).not.toBe(second?.id)
})

test('a connection is the same one at every start, for any key, and shows no part of it', () => {
  const ids = ['sk-1', 'sk-2'].map(
    (key) => createEnvironmentConnections({ FAKE_API_KEY: key }, [fake])[0]?.id,
  )
  expect(ids[0]).toMatch(/^conn_[0-9a-f]{26}$/)
  expect(ids[1]).toBe(ids[0])
})

test('an address of its own takes the place of the provider’s, without final slashes', () => {
  const environment = { FAKE_API_KEY: 'sk-1', FAKE_BASE_URL: 'http://127.0.0.1:9/v1//' }
  expect(createEnvironmentConnections(environment, [fake])[0]?.baseUrl).toBe(
    'http://127.0.0.1:9/v1',
  )
})

test('replaces braces in an address from the environment, escaped', () => {
  const [connection] = createEnvironmentConnections(
    { CLOUD_API_KEY: 'k', CLOUD_ACCOUNT: 'a/../b?' },
    [cloud],
  )
  expect(connection?.baseUrl).toBe('https://api.cloud.example/a%2F..%2Fb%3F/v1')
})

test('a key without the account that the address needs makes no connection', () => {
  expect(createEnvironmentConnections({ CLOUD_API_KEY: 'k' }, [cloud])).toEqual([])
  const own = { CLOUD_API_KEY: 'k', CLOUD_BASE_URL: 'http://127.0.0.1:9/v1' }
  expect(createEnvironmentConnections(own, [cloud])).toMatchObject([
    { baseUrl: 'http://127.0.0.1:9/v1' },
  ])
})

test('a provider inside the process exists without a key', () => {
  const sandbox = sampleProvider({ key: 'sandbox', dialect: 'sandbox', baseUrl: null })
  expect(createEnvironmentConnections({}, [sandbox])).toMatchObject([
    { provider: 'sandbox', baseUrl: null, secret: null },
  ])
})

const aws = sampleProvider({
  key: 'bedrock',
  dialect: 'bedrock',
  baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  variables: { region: 'AWS_REGION' },
  keyVariables: ['AWS_BEARER_TOKEN_BEDROCK'],
  keyFields: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
  optionVariables: { region: 'AWS_REGION' },
})
const pair = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-west-1' }

describe('a credential of several variables', () => {
  test('is one secret, at the address of its region', () => {
    expect(createEnvironmentConnections(pair, [aws])).toMatchObject([
      {
        name: 'AWS_ACCESS_KEY_ID',
        secret: 'AKIA:secret',
        baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
        options: { region: 'eu-west-1' },
      },
    ])
    const temporary = { ...pair, AWS_SESSION_TOKEN: 'token', AWS_REGION: 'cn-north-1' }
    expect(createEnvironmentConnections(temporary, [aws])).toMatchObject([
      {
        secret: 'AKIA:secret:token',
        baseUrl: 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
      },
    ])
  })

  test('gives way to a key of its own', () => {
    const environment = { ...pair, AWS_BEARER_TOKEN_BEDROCK: 'bearer' }
    expect(createEnvironmentConnections(environment, [aws])).toMatchObject([{ secret: 'bearer' }])
  })

  test.each([
    ['half of it', { ...pair, AWS_SECRET_ACCESS_KEY: undefined }],
    ['no region', { ...pair, AWS_REGION: undefined }],
    ['an invalid region', { ...pair, AWS_REGION: 'x/../y' }],
  ])('creates no connection with %s', (_what, environment) => {
    expect(createEnvironmentConnections(environment, [aws])).toEqual([])
  })
})

describe('a credential in a file', () => {
  const vertex = sampleProvider({
    key: 'vertex',
    dialect: 'vertex',
    baseUrl: 'https://aiplatform.googleapis.com/v1',
    keyVariables: ['GOOGLE_APPLICATION_CREDENTIALS', 'VERTEX_API_KEY'],
    keyFiles: ['GOOGLE_APPLICATION_CREDENTIALS'],
    optionVariables: { project: 'GOOGLE_VERTEX_PROJECT', location: 'GOOGLE_VERTEX_LOCATION' },
  })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const account = JSON.stringify({
    type: 'service_account',
    project_id: 'p-1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'gate@p-1.iam.gserviceaccount.com',
  })
  const files: Record<string, string> = { '/key.json': account, '/user.json': '{"type":"user"}' }
  const connected = (environment: Record<string, string>) =>
    createEnvironmentConnections(environment, [vertex], { readFile: (path) => files[path] })

  test.each([['/key.json'], [account]])('is read, or stands there itself', (value) => {
    const environment = { GOOGLE_APPLICATION_CREDENTIALS: value, GOOGLE_VERTEX_LOCATION: 'eu' }
    expect(connected(environment)).toMatchObject([
      {
        secret: account,
        baseUrl: 'https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu',
      },
    ])
  })

  test('with a foreign credential creates no connection; a key beside a lost file does', () => {
    expect(connected({ GOOGLE_APPLICATION_CREDENTIALS: '/user.json' })).toEqual([])
    const environment = { GOOGLE_APPLICATION_CREDENTIALS: '/lost.json', VERTEX_API_KEY: 'AIza' }
    expect(connected(environment)).toMatchObject([
      { name: 'VERTEX_API_KEY', baseUrl: 'https://aiplatform.googleapis.com/v1' },
    ])
  })
})
