import { beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, verify, type KeyObject } from 'node:crypto'
import { readServiceAccount, signClaim } from './service-account'

let pem = ''
let publicKey: KeyObject
beforeAll(() => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' })
  publicKey = pair.publicKey
})

const file = (fields: object = {}) =>
  JSON.stringify({
    type: 'service_account',
    project_id: 'p-1',
    private_key_id: 'k-1',
    private_key: pem,
    client_email: 'gate@p-1.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
    ...fields,
  })

const decoded = (text: string | undefined): unknown =>
  JSON.parse(Buffer.from(text ?? '', 'base64url').toString())

test('a claim names issuer and scope for an hour, and is signed with the key', () => {
  const account = readServiceAccount(file())
  const claim = signClaim(account, 1_700_000_000_999)
  const [header, body, signature] = claim.split('.')
  expect(decoded(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k-1' })
  expect(decoded(body)).toEqual({
    iss: 'gate@p-1.iam.gserviceaccount.com',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: 'https://oauth2.googleapis.com/token',
    iat: 1_700_000_000,
    exp: 1_700_003_600,
  })
  const isSigned = (text: string) =>
    verify('RSA-SHA256', Buffer.from(text), publicKey, Buffer.from(signature ?? '', 'base64url'))
  expect(isSigned(`${header}.${body}`)).toBeTrue()
  expect(isSigned(`${header}.${body}x`)).toBeFalse()
  expect(account.projectId).toBe('p-1')
})

test('the usual token address may be left out', () => {
  expect(readServiceAccount(file({ token_uri: undefined })).tokenUrl).toBe(
    'https://oauth2.googleapis.com/token',
  )
})

function refused(text: string): unknown {
  try {
    readServiceAccount(text)
  } catch (thrown) {
    return thrown
  }
  throw new Error('It was not refused.')
}

describe('rejects an invalid key file of a service account, without quoting it', () => {
  test.each([
    ['no JSON', () => `{${pem}`],
    ['another kind', () => file({ type: 'authorized_user' })],
    ['no key', () => file({ private_key: undefined })],
    ['a broken key', () => file({ private_key: pem.slice(0, 200) })],
    [
      'a key that is not RSA',
      () =>
        file({
          private_key: generateKeyPairSync('ed25519').privateKey.export({
            type: 'pkcs8',
            format: 'pem',
          }),
        }),
    ],
    ...[
      'http://oauth2.googleapis.com/token',
      'https://evil.example/token',
      'https://oauth2.googleapis.com.evil.example/token',
      'https://evil.example@oauth2.googleapis.com/token',
      'https://oauth2.googleapis.com:8443/token',
      'token',
    ].map((address) => [address, () => file({ token_uri: address })] as const),
  ])('%s', (_what, text) => {
    const error = refused(text())
    expect(error).toMatchObject({ code: 'invalid_request', param: 'credentials' })
    expect(String(error)).not.toContain('PRIVATE KEY')
    expect(JSON.stringify(error)).not.toContain('PRIVATE KEY')
  })
})
