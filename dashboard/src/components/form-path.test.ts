import { expect, test } from 'bun:test'
import { hasField } from './form-path'

const values = {
  name: '',
  models: [],
  'rates.requests': 1,
  network: { client_key: '', proxy: { url: '' } },
}

test.each([
  ['name', true],
  ['models', true],
  ['rates.requests', true],
  ['network.client_key', true],
  ['network.proxy.url', true],
  ['network', false],
  ['network.proxy', false],
  ['network.proxy.url.host', false],
  ['network.other', false],
  ['models.0', false],
  ['network.toString', false],
])('%s is a field: %p', (path, isField) => {
  expect(hasField(values, path)).toBe(isField)
})
