import { describe, expect, test } from 'bun:test'
import { readConfig, StartError } from './config'

/** The message with which an environment is rejected. */
function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment)
    return ''
  } catch (thrown) {
    if (thrown instanceof StartError) return thrown.message
    throw thrown
  }
}

const bad: Record<string, string[]> = {
  OIDC_ISSUER_URL: [
    'login.example.com',
    'http://login.example.com',
    'https://me:secret@login.example.com',
    'https://login.example.com/?a=b',
    'https://login.example.com/#a',
  ],
  OIDC_CLIENT_ID: ['line\nbreak'],
  OIDC_CLIENT_SECRET: ['line\nbreak'],
  OIDC_DOMAINS: [',', 'example', '@example.com', 'example.com example.org', '*', '*.example.com'],
  OIDC_REQUIRED_DOMAINS: ['*'],
  OIDC_NAME: ['x'.repeat(41)],
  OIDC_SCOPES: ['email profile', 'openid "x"'],
  OIDC_SIGNUP: ['yes', 'OPEN'],
  OIDC_OPERATOR_VALUES: [','],
}

test.each(Object.entries(bad).flatMap(([name, values]) => values.map((value) => [name, value])))(
  '%s=%s is rejected in one line that names the variable',
  (name = '', value = '') => {
    expect(refusal({ [name]: value })).toMatch(new RegExp(`^${name}: must [^\\n]+$`))
  },
)

describe('an identity provider', () => {
  const environment = {
    OIDC_ISSUER_URL: 'https://login.example.com/',
    OIDC_CLIENT_ID: 'tollgate',
    OIDC_CLIENT_SECRET: 'a secret',
    OIDC_DOMAINS: 'Example.com, example.org',
  }

  test('has its issuer unchanged and its domains in lower case', () => {
    expect(readConfig(environment).identityProvider).toEqual({
      issuer: 'https://login.example.com/',
      clientId: 'tollgate',
      clientSecret: 'a secret',
      domains: ['example.com', 'example.org'],
      requiredDomains: [],
      name: 'single sign-on',
      scopes: ['openid', 'email', 'profile'],
      signUp: 'open',
      emailVerifiedClaim: 'email_verified',
      roleClaim: undefined,
    })
  })

  test('on this machine needs no TLS', () => {
    const issuer = 'http://127.0.0.1:8180/realms/staff'
    const { identityProvider } = readConfig({ ...environment, OIDC_ISSUER_URL: issuer })
    expect(identityProvider?.issuer).toBe(issuer)
  })

  test('gives roles by the values of a claim', () => {
    const { identityProvider } = readConfig({
      ...environment,
      OIDC_OPERATOR_CLAIM: 'groups',
      OIDC_OPERATOR_VALUES: 'admins,owners',
      OIDC_SUPPORT_VALUES: 'desk',
      OIDC_FINANCE_VALUES: 'money, books',
    })
    expect(identityProvider?.roleClaim).toEqual({
      claim: 'groups',
      values: {
        operator: ['admins', 'owners'],
        support: ['desk'],
        finance: ['money', 'books'],
        read_only: [],
      },
    })
  })

  test.each([
    [{ OIDC_ISSUER_URL: '' }, 'OIDC_ISSUER_URL is required with OIDC_CLIENT_ID'],
    [{ OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID is required with OIDC_ISSUER_URL'],
    [{ OIDC_CLIENT_SECRET: '' }, 'OIDC_CLIENT_SECRET is required with OIDC_ISSUER_URL'],
    [{ OIDC_DOMAINS: '' }, 'OIDC_DOMAINS is required with OIDC_ISSUER_URL'],
    [
      { OIDC_REQUIRED_DOMAINS: 'other.example' },
      'OIDC_REQUIRED_DOMAINS: other.example is not in OIDC_DOMAINS',
    ],
    [
      { OIDC_OPERATOR_CLAIM: 'groups' },
      'OIDC_OPERATOR_CLAIM and OIDC_OPERATOR_VALUES: set both, or neither',
    ],
    [{ OIDC_SUPPORT_VALUES: 'desk' }, 'OIDC_OPERATOR_CLAIM is required with OIDC_SUPPORT_VALUES'],
  ])('with %j is rejected: %s', (changes, message) => {
    expect(refusal({ ...environment, ...changes })).toBe(message)
  })
})
