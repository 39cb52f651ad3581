import { expect, test } from 'bun:test'
import { getPath } from './path'

test.each([
  ['http://localhost:8080/v1/models', '/v1/models'],
  ['https://gateway.example/v1/models?key=secret', '/v1/models'],
  // No client sends a fragment, but a request line may have one.
  ['http://localhost/v1/models#secret?x=1', '/v1/models'],
  ['http://localhost/v1/models?x#secret', '/v1/models'],
  ['http://localhost/', '/'],
])('the path of %p is %p, without its suffix', (url, path) => {
  expect(getPath(url)).toBe(path)
})
