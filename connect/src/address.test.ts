import { describe, expect, test } from 'bun:test'
import { proxyFor, serverAddress, socketAddress } from './address'
import { UsageError } from './text'

describe('the address of the socket', () => {
  test.each([
    ['https://tollgate.example', 'wss://tollgate.example/gateway'],
    ['https://tollgate.example/', 'wss://tollgate.example/gateway'],
    ['wss://tollgate.example/gateway', 'wss://tollgate.example/gateway'],
    ['https://example.com/ai/', 'wss://example.com/ai/gateway'],
    ['http://127.0.0.1:8080', 'ws://127.0.0.1:8080/gateway'],
    ['http://localhost:8080', 'ws://localhost:8080/gateway'],
    ['ws://[::1]:8080/gateway', 'ws://[::1]:8080/gateway'],
  ])('of %s is %s', (text, address) => {
    expect(socketAddress(text, 'secure')).toBe(address)
  })

  test.each([
    'tollgate.example',
    'ftp://tollgate.example',
    'https://a.example/?b=c',
    '',
    'https://u:p@a.example',
  ])('%s is rejected', (text) => {
    expect(() => socketAddress(text, 'secure')).toThrow(UsageError)
  })

  test.each(['http://tollgate.example', 'http://127.0.0.1.example.com', 'ws://10.0.0.1'])(
    '%s would send the token unencrypted, and is rejected without --insecure',
    (text) => {
      expect(() => socketAddress(text, 'secure')).toThrow('--insecure')
      expect(socketAddress(text, 'insecure')).toStartWith('ws://')
    },
  )

  test('a password in an address is not repeated', () => {
    expect(() => socketAddress('https://u:hunter22@a.example', 'secure')).not.toThrow('hunter22')
  })
})

test('the address of a server has no slash at its end, and no query', () => {
  expect(serverAddress('http://127.0.0.1:11434/v1/')).toBe('http://127.0.0.1:11434/v1')
  for (const text of ['127.0.0.1:11434', 'file:///etc', 'http://a/?b', 'http://u:p@a']) {
    expect(() => serverAddress(text)).toThrow(UsageError)
  }
})

describe('the proxy', () => {
  const environment = {
    https_proxy: 'http://proxy:3128',
    HTTP_PROXY: 'http://plain:3128',
    NO_PROXY: '.internal, corp.example,other:8443',
  }
  test.each([
    ['wss://tollgate.example/gateway', 'http://proxy:3128'],
    ['ws://tollgate.example/gateway', 'http://plain:3128'],
    ['wss://a.internal/gateway', undefined],
    ['wss://corp.example/gateway', undefined],
    ['wss://gate.corp.example/gateway', undefined],
    ['wss://notcorp.example/gateway', 'http://proxy:3128'],
    ['wss://other:8443/gateway', undefined],
    ['wss://other/gateway', 'http://proxy:3128'],
    ['ws://127.0.0.1:8080/gateway', undefined],
  ])('for %s is %p', (address, proxy) => {
    expect(proxyFor(address, environment)).toBe(proxy)
  })

  test('is undefined for every address where NO_PROXY is a star, or nothing is set', () => {
    expect(proxyFor('wss://a.example/', { ...environment, NO_PROXY: '*' })).toBeUndefined()
    expect(proxyFor('wss://a.example/', { HTTPS_PROXY: '' })).toBeUndefined()
  })
})
