import { expect, test } from 'bun:test'
import { connectionsFrom } from './from-environment'
import { sampleProvider } from './samples'

const fake = sampleProvider({ keyVariables: ['FAKE_API_KEY', 'FAKE_TOKEN'] })

const cloud = sampleProvider({
  key: 'cloud',
  baseUrl: 'https://api.cloud.example/{account}/v1',
  variables: { account: 'CLOUD_ACCOUNT' },
  keyVariables: ['CLOUD_API_KEY'],
})

test('a provider without a key in the environment has no connection', () => {
  expect(connectionsFrom({ OTHER_API_KEY: 'x', FAKE_API_KEY: '' }, [fake])).toEqual([])
})

test('the first of its variables that is set makes the connection, and names it', () => {
  const environment = { FAKE_API_KEY: 'sk-1', FAKE_TOKEN: 'sk-2' }
  const [first] = connectionsFrom(environment, [fake])
  expect(first).toMatchObject({ provider: 'fake', name: 'FAKE_API_KEY', secret: 'sk-1' })
  const [second] = connectionsFrom({ FAKE_TOKEN: 'sk-2' }, [fake])
  expect(second).toMatchObject({ provider: 'fake', name: 'FAKE_TOKEN', secret: 'sk-2' })
  expect(first?.id).not.toBe(second?.id)
})

test('a connection is the same one at every start, whatever its key, and shows nothing of it', () => {
  const ids = ['sk-1', 'sk-2'].map((key) => connectionsFrom({ FAKE_API_KEY: key }, [fake])[0]?.id)
  expect(ids[0]).toMatch(/^conn_[0-9a-f]{26}$/)
  expect(ids[1]).toBe(ids[0])
})

test('an address of its own takes the place of the provider’s, without final slashes', () => {
  const environment = { FAKE_API_KEY: 'sk-1', FAKE_BASE_URL: 'http://127.0.0.1:9/v1//' }
  expect(connectionsFrom(environment, [fake])[0]?.baseUrl).toBe('http://127.0.0.1:9/v1')
})

test('what stands in braces in an address comes from the environment, and cannot break out', () => {
  const [connection] = connectionsFrom({ CLOUD_API_KEY: 'k', CLOUD_ACCOUNT: 'a/../b?' }, [cloud])
  expect(connection?.baseUrl).toBe('https://api.cloud.example/a%2F..%2Fb%3F/v1')
})

test('a key without the account that the address needs makes no connection', () => {
  expect(connectionsFrom({ CLOUD_API_KEY: 'k' }, [cloud])).toEqual([])
  const own = { CLOUD_API_KEY: 'k', CLOUD_BASE_URL: 'http://127.0.0.1:9/v1' }
  expect(connectionsFrom(own, [cloud])).toMatchObject([{ baseUrl: 'http://127.0.0.1:9/v1' }])
})

test('a provider inside the process is there without a key', () => {
  const sandbox = sampleProvider({ key: 'sandbox', dialect: 'sandbox', baseUrl: null })
  expect(connectionsFrom({}, [sandbox])).toMatchObject([
    { provider: 'sandbox', baseUrl: null, secret: null },
  ])
})
