import { expect, test } from 'bun:test'
import { SignInRefusal, toIdentity } from './identity'
import type { IdentityProviderConfig } from '../../../platform/config/identity-provider'

const config: IdentityProviderConfig = {
  issuer: 'https://login.example.com',
  clientId: 'client',
  clientSecret: 'secret',
  name: 'Example Login',
  scopes: ['openid'],
  domains: ['example.com'],
  requiredDomains: [],
  signUp: 'open',
  emailVerifiedClaim: 'email_verified',
  roleClaim: undefined,
}
const claims = { sub: 'ada', email: 'Ada@Example.com', email_verified: true }

/** The code of a refusal, or the address of the identity. */
function outcomeOf(given: Record<string, unknown>, changes: Partial<IdentityProviderConfig> = {}) {
  try {
    return toIdentity({ ...claims, ...given }, { ...config, ...changes }).email
  } catch (thrown) {
    return thrown instanceof SignInRefusal ? thrown.code : thrown
  }
}

test('the address is in lower case, and names the person where no claim does', () => {
  expect(toIdentity(claims, config)).toEqual({
    subject: 'ada',
    sid: undefined,
    email: 'ada@example.com',
    name: 'Ada',
    claimedRole: undefined,
  })
})

test.each([true, 'true', 1, '1'])('%j confirms the address', (email_verified) => {
  expect(outcomeOf({ email_verified })).toBe('ada@example.com')
})

test.each([false, 'false', 0, null, undefined, {}])(
  '%j does not confirm the address',
  (email_verified) => {
    expect(outcomeOf({ email_verified })).toBe('identity_provider_email_unverified')
  },
)

test('another claim confirms the address where it is set, and email_verified does not then', () => {
  const emailVerifiedClaim = 'xms_edov'
  expect(outcomeOf({ xms_edov: true }, { emailVerifiedClaim })).toBe('ada@example.com')
  expect(outcomeOf({}, { emailVerifiedClaim })).toBe('identity_provider_email_unverified')
})

test('Google signs in accounts of a listed company only, not every account with its address', () => {
  const issuer = 'https://accounts.google.com'
  expect(outcomeOf({ hd: 'example.com' }, { issuer })).toBe('ada@example.com')
  expect(outcomeOf({}, { issuer })).toBe('identity_provider_domain')
  expect(outcomeOf({ hd: 'elsewhere.example' }, { issuer })).toBe('identity_provider_domain')
})

test.each([
  ['admins', 'operator'],
  [['staff', 'admins'], 'operator'],
  ['desk', 'support'],
  ['admin', null],
  [[], null],
  [undefined, null],
  [{ admins: true }, null],
  [[['admins']], null],
] as const)('the claim %j gives the role %p', (groups, role) => {
  const values = { operator: ['admins'], support: ['desk'], finance: [], read_only: [] }
  const roleClaim = { claim: 'groups', values }
  expect(toIdentity({ ...claims, groups }, { ...config, roleClaim }).claimedRole).toBe(role)
})
