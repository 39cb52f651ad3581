import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { DOMImplementation, DOMParser, XMLSerializer } from '@xmldom/xmldom'
import { setNodeDependencies } from 'xml-core'
import { Application, Parse, SignedXml } from 'xmldsigjs'

setNodeDependencies({ DOMParser, XMLSerializer, DOMImplementation })
Application.setEngine('WebCrypto', crypto)

/** The key of a stand-in, and the certificate by which a service provider knows it. */
export interface SigningKey {
  privateKey: CryptoKey
  /** As PEM. */
  certificate: string
}

const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

/** Creates a key with a certificate that it has signed itself. */
export async function createSigningKey(): Promise<SigningKey> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-saml-'))
  const [key, certificate] = [join(folder, 'key'), join(folder, 'certificate')]
  try {
    const words = `req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=stand-in -keyout ${key} -out ${certificate}`
    execFileSync('openssl', words.split(' '), { stdio: 'ignore' })
    const der = readFileSync(key, 'utf8').replaceAll(/-----[^-]+-----|\s/g, '')
    const bytes = Buffer.from(der, 'base64')
    const privateKey = await crypto.subtle.importKey('pkcs8', bytes, algorithm, true, ['sign'])
    return { privateKey, certificate: readFileSync(certificate, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A sign-in that a service provider has begun, as its request says. */
export interface SignInRequest {
  id: string
  issuer: string
  recipient: string
  relayState: string
  destination: string
}

/** Reads the request in an address of the binding HTTP-Redirect. */
export function readRequest(address: string): SignInRequest {
  const { searchParams } = new URL(address)
  const bytes = Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64')
  const request = new DOMParser().parseFromString(
    inflateRawSync(bytes).toString(),
    'text/xml',
  ).documentElement
  const attribute = (name: string) => request?.getAttribute(name) ?? ''
  return {
    id: attribute('ID'),
    issuer: request?.getElementsByTagName('saml:Issuer')[0]?.textContent ?? '',
    recipient: attribute('AssertionConsumerServiceURL'),
    destination: attribute('Destination'),
    relayState: searchParams.get('RelayState') ?? '',
  }
}

/** The claims of an assertion, and the ids that tie it to a sign-in. */
export interface AssertionClaims {
  id: string
  requestId: string
  responseTo: string
  issuer: string
  audience: string
  recipient: string
  subject: string
  format: string
  attributes: Readonly<Record<string, readonly string[]>>
  /** Seconds from now, of the confirmation and of the conditions. */
  endsIn: number
  conditionsEndIn: number
  beginsIn: number
  method: string
}

const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const protocol = 'urn:oasis:names:tc:SAML:2.0'
export const persistent = `${protocol}:nameid-format:persistent`

/** Returns what a faithful identity provider says in answer to a request. */
export const answerTo = (
  request: SignInRequest,
  issuer: string,
  email: string,
): AssertionClaims => ({
  id: `_${crypto.randomUUID()}`,
  requestId: request.id,
  responseTo: request.id,
  issuer,
  audience: request.issuer,
  recipient: request.recipient,
  subject: `subject of ${email}`,
  format: persistent,
  attributes: { email: [email], name: [`The person ${email}`] },
  endsIn: 300,
  conditionsEndIn: 300,
  beginsIn: -5,
  method: `${protocol}:cm:bearer`,
})

/** Returns an assertion, not yet signed. */
export function writeAssertion(claims: AssertionClaims): string {
  const attributes = Object.entries(claims.attributes).map(
    ([name, values]) =>
      `<saml:Attribute Name="${name}">${values
        .map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
        .join('')}</saml:Attribute>`,
  )
  return (
    `<saml:Assertion xmlns:saml="${protocol}:assertion" ID="${claims.id}" Version="2.0" IssueInstant="${at(0)}">` +
    `<saml:Issuer>${claims.issuer}</saml:Issuer>` +
    `<saml:Subject><saml:NameID Format="${claims.format}">${claims.subject}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="${claims.method}"><saml:SubjectConfirmationData InResponseTo="${claims.requestId}"` +
    ` NotOnOrAfter="${at(claims.endsIn)}" Recipient="${claims.recipient}"/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${at(claims.beginsIn)}" NotOnOrAfter="${at(claims.conditionsEndIn)}">` +
    `<saml:AudienceRestriction><saml:Audience>${claims.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="one"><saml:AuthnContext><saml:AuthnContextClassRef>` +
    `${protocol}:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
    `<saml:AttributeStatement>${attributes.join('')}</saml:AttributeStatement></saml:Assertion>`
  )
}

/** Signs an element by its ID, and puts the signature after its issuer. */
export async function sign(xml: string, id: string, { privateKey }: SigningKey) {
  const document = Parse(xml)
  const signed = new SignedXml()
  // The other one depends on the names that a response around it declares.
  signed.XmlSignature.SignedInfo.CanonicalizationMethod.Algorithm =
    'http://www.w3.org/2001/10/xml-exc-c14n#'
  await signed.Sign(algorithm, privateKey, document, {
    references: [{ uri: `#${id}`, hash: 'SHA-256', transforms: ['enveloped', 'exc-c14n'] }],
  })
  const [signature = ''] = /<ds:Signature[ >][^]*<\/ds:Signature>/.exec(signed.toString()) ?? []
  return xml.replace('</saml:Issuer>', `</saml:Issuer>${signature}`)
}

/** Returns a response around assertions. */
export const writeResponse = (claims: AssertionClaims, assertions: string) =>
  `<samlp:Response xmlns:samlp="${protocol}:protocol" xmlns:saml="${protocol}:assertion" ID="_${crypto.randomUUID()}"` +
  ` Version="2.0" IssueInstant="${at(0)}" Destination="${claims.recipient}" InResponseTo="${claims.responseTo}">` +
  `<saml:Issuer>${claims.issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${protocol}:status:Success"/>` +
  `</samlp:Status>${assertions}</samlp:Response>`
