import { expect, test } from 'bun:test'
import { lookAtSaml } from './saml'
import { readConfig } from '../../platform/config/config'
import { certificate, certificateEndMs } from '../../../testing/auth/saml-certificate'

const { saml } = readConfig({
  SAML_ISSUER: 'https://login.example.com',
  SAML_SIGN_IN_URL: 'https://login.example.com/sign-in',
  SAML_CERTIFICATES: certificate,
  SAML_DOMAINS: 'example.com',
})
const day = 86_400_000
const baseUrl = 'https://tollgate.example.com'

test.each([
  [100, 'ok', 'certificates until'],
  [29, 'warning', 'ends on'],
  [-1, 'warning', 'ended on'],
])('a certificate with %d days left is %s', (days, state, words) => {
  const finding = lookAtSaml({ saml, baseUrl }, certificateEndMs - days * day)
  expect(finding).toMatchObject({ state, what: expect.stringContaining(words) })
})

test('without an address that the provider can name, SAML is a failure; without SAML nothing is', () => {
  expect(lookAtSaml({ saml, baseUrl: undefined }).state).toBe('failure')
  expect(lookAtSaml({ saml: undefined, baseUrl: undefined }).state).toBe('ok')
})
