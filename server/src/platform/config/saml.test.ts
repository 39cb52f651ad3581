import { describe, expect, test } from 'bun:test'
import { readConfig, StartError } from './config'
import { certificate } from '../../../testing/auth/saml-certificate'

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

const bare = certificate.replaceAll(/-----[^-]+-----|\s/g, '')

describe('an identity provider over SAML', () => {
  const environment = {
    SAML_ISSUER: 'https://login.example.com/saml',
    SAML_SIGN_IN_URL: 'https://login.example.com/saml/sign-in?tenant=1',
    SAML_CERTIFICATES: certificate,
    SAML_DOMAINS: 'Example.com, example.org',
  }

  test('has its domains in lower case, and the attributes that providers are set to', () => {
    expect(readConfig(environment).saml).toEqual({
      issuer: 'https://login.example.com/saml',
      signInUrl: 'https://login.example.com/saml/sign-in?tenant=1',
      certificates: [certificate],
      domains: ['example.com', 'example.org'],
      requiredDomains: [],
      name: 'single sign-on',
      signUp: 'open',
      emailAttribute: 'email',
      nameAttribute: 'name',
      roleClaim: undefined,
    })
  })

  test.each([
    [`${certificate}\n${certificate}\n`, 2],
    [bare, 1],
    [`${bare}, ${bare}`, 2],
  ])('has the certificates of PEM and of Base64', (text, count) => {
    const { saml } = readConfig({ ...environment, SAML_CERTIFICATES: text })
    expect(saml?.certificates).toEqual(Array.from({ length: count }, () => certificate))
  })

  test.each([
    [{ SAML_ISSUER: '' }, 'SAML_ISSUER is required with SAML_SIGN_IN_URL'],
    [{ SAML_SIGN_IN_URL: '' }, 'SAML_SIGN_IN_URL is required with SAML_ISSUER'],
    [{ SAML_CERTIFICATES: '' }, 'SAML_CERTIFICATES is required with SAML_ISSUER'],
    [{ SAML_DOMAINS: '' }, 'SAML_DOMAINS is required with SAML_ISSUER'],
    [
      { SAML_REQUIRED_DOMAINS: 'other.example' },
      'SAML_REQUIRED_DOMAINS: other.example is not in SAML_DOMAINS',
    ],
    [
      { SAML_OPERATOR_VALUES: 'admins' },
      'SAML_OPERATOR_ATTRIBUTE and SAML_OPERATOR_VALUES: set both, or neither',
    ],
    [
      { SAML_SUPPORT_VALUES: 'desk' },
      'SAML_OPERATOR_ATTRIBUTE is required with SAML_SUPPORT_VALUES',
    ],
    [
      {
        OIDC_ISSUER_URL: 'https://login.example.com',
        OIDC_CLIENT_ID: 'tollgate',
        OIDC_CLIENT_SECRET: 'secret',
        OIDC_DOMAINS: 'example.com',
      },
      'OIDC_ISSUER_URL and SAML_ISSUER: set one of them, not both',
    ],
  ])('with %j is rejected: %s', (changes, message) => {
    expect(refusal({ ...environment, ...changes })).toBe(message)
  })

  test.each([
    'hello',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    `${certificate}\nhello`,
    Array.from({ length: 5 }, () => certificate).join('\n'),
  ])('the certificates %j are rejected', (text) => {
    expect(refusal({ SAML_CERTIFICATES: text })).toBe(
      'SAML_CERTIFICATES: must be 1 to 4 certificates, as PEM',
    )
  })

  test.each(['http://login.example.com', 'login.example.com', 'https://me:x@login.example.com'])(
    'the address %s is rejected for sign-ins',
    (url) => {
      expect(refusal({ SAML_SIGN_IN_URL: url })).toMatch(/^SAML_SIGN_IN_URL: must [^\n]+$/)
    },
  )
})
