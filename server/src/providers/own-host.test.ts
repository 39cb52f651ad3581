import { expect, test } from 'bun:test'
import { isOwnHost } from './own-host'

const bfl = { address: 'https://api.bfl.ai/v1', ownAddress: 'https://api.bfl.ai/v1' }
const proxied = { ...bfl, address: 'https://proxy.example:8443/bfl' }

test.each([
  [bfl, 'https://api.bfl.ai/v1/get_result?id=1', true],
  [bfl, 'https://api.eu2.bfl.ai/v1/get_result?id=1', true],
  [bfl, 'http://api.eu2.bfl.ai/v1/get_result?id=1', false],
  [bfl, 'http://api.bfl.ai/v1/get_result?id=1', false],
  [bfl, 'https://api.bfl.ai:8443/v1/get_result', false],
  [bfl, 'https://me@api.bfl.ai/v1/get_result', false],
  [bfl, 'https://evilbfl.ai/v1/get_result', false],
  [bfl, 'https://api.bfl.ai.evil.example/v1/get_result', false],
  [bfl, 'https://169.254.169.254/latest/meta-data', false],
  [bfl, 'file:///etc/passwd', false],
  [bfl, '/v1/get_result?id=1', false],
  [bfl, `https://api.bfl.ai/${'a'.repeat(8192)}`, false],
  [proxied, 'https://proxy.example:8443/bfl/get_result?id=1', true],
  [proxied, 'https://proxy.example/bfl/get_result?id=1', false],
  [proxied, 'https://api.bfl.ai/v1/get_result?id=1', false],
  [{ ...proxied, ownAddress: null }, 'https://api.bfl.ai/v1/get_result?id=1', false],
])('a credential for %j goes to %s: %j', (addresses, url, isOwn) => {
  expect(isOwnHost(url, addresses)).toBe(isOwn)
})
