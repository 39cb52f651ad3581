import { describe, expect, test } from 'bun:test'
import {
  networkErrors,
  newHeader,
  toNetworkChange,
  toNetworkFields,
  type Network,
} from './network-fields'

const certificate = { subject: 'CN=a', expires_at: '2030-01-01T00:00:00.000Z', fingerprint: 'f' }

const shown: Network = {
  certificate_authorities: [certificate],
  client_certificate: certificate,
  headers: ['x-team', 'x-stage'],
  proxy: { url: 'http://proxy:3128', username: 'user', certificate_authorities: [] },
}
const stored = toNetworkFields(shown)

test('an unchanged network is not sent', () => {
  expect(toNetworkChange(stored, shown)).toBeUndefined()
  expect(toNetworkChange(toNetworkFields(null), null)).toBeUndefined()
})

describe('a change has the entered values, and null for each removed one:', () => {
  test.each<[string, Partial<typeof stored>, object]>([
    ['authorities', { certificate_authorities: 'PEM' }, { certificate_authorities: 'PEM' }],
    ['no authorities', { removesAuthorities: true }, { certificate_authorities: null }],
    ['a key', { client_key: 'KEY' }, { client_key: 'KEY' }],
    [
      'no client certificate',
      { removesCertificate: true, client_key: 'KEY' },
      { client_certificate: null, client_key: null },
    ],
    [
      'headers',
      {
        headers: [
          { id: 'x-team', name: 'x-team', value: '', isStored: true },
          { id: '1', name: 'X-New', value: 'v', isStored: false },
          { id: '2', name: '', value: '', isStored: false },
        ],
      },
      { headers: { 'x-stage': null, 'X-New': 'v' } },
    ],
    [
      'another password of the proxy',
      { proxy: { ...stored.proxy, password: 'p' } },
      { proxy: { url: 'http://proxy:3128', username: 'user', password: 'p' } },
    ],
    ['no proxy', { proxy: { ...stored.proxy, url: '' } }, { proxy: null }],
  ])('%s', (_which, change, body) => {
    expect(toNetworkChange({ ...stored, ...change }, shown)).toEqual(body)
  })
})

test('rows that are added have ids of their own', () => {
  const [first, second] = [newHeader(stored.headers), newHeader([newHeader([])])]
  expect([first.id, second.id]).toEqual(['1', '2'])
})

test('the error of a header appears at its row', () => {
  const placed: string[] = []
  const errors = networkErrors({
    values: { network: stored },
    setFieldError: (path) => placed.push(path),
  })
  expect(Object.keys(errors.values.network.headers)).toEqual(['x-team', 'x-stage'])
  errors.setFieldError('network.headers.x-stage', 'no')
  errors.setFieldError('network.client_key', 'no')
  expect(placed).toEqual(['network.headers.1.name', 'network.client_key'])
})
