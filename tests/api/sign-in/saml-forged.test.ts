import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createSamlFixture, issuer, type Answer, type SamlFixture } from './saml-fixture'
import { isSignedIn } from './identity-provider-fixture'
import { Browser } from '../../harness/browser-session'
import {
  answerTo,
  sign,
  writeAssertion,
  writeResponse,
  type AssertionClaims,
} from '../../harness/identity-providers/saml-stand-in'

/** Source: contract 2.5. Responses that are rejected. */

let fixture: SamlFixture

beforeAll(async () => {
  fixture = await createSamlFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  await fixture.sql`delete from auth_rate_limit`
})

const failed = '/sign-in?error=identity_provider_failed'
const signature = /<ds:Signature[\s\S]*?<\/ds:Signature>/
const assertionPattern = /<saml:Assertion[\s\S]*<\/saml:Assertion>/

/** An assertion of the attacker, unsigned, about someone else. */
const evilOf = (claims: AssertionClaims, id = claims.id) =>
  writeAssertion({
    ...claims,
    id,
    attributes: { email: ['victim@example.com'] },
    subject: 'victim',
  })

/** Puts the signed assertion elsewhere in the response. */
const moved =
  (wrap: (signed: string, claims: AssertionClaims) => string) =>
  (text: string, claims: AssertionClaims) =>
    text.replace(assertionPattern, (signed) => wrap(signed, claims))

/** Puts the signed assertion inside one of the attacker, at `place`. */
const within = (place: RegExp, id?: string) =>
  moved((signed, claims) => evilOf(claims, id).replace(place, (tag) => `${tag}${signed}`))

const forgeries: Readonly<Record<string, Answer | (() => Answer)>> = {
  'no signature': { change: (text) => text.replace(signature, '') },
  'a key that is not known': () => ({ key: fixture.keys.strange }),
  'a text that was changed': { change: (text) => text.replaceAll('eve@', 'victim@') },
  'another audience': { claims: { audience: 'https://other.example' } },
  'another recipient': { claims: { recipient: 'https://other.example/saml/acs' } },
  'another issuer': { claims: { issuer: 'https://evil.example' } },
  'a confirmation that has ended': { claims: { endsIn: -120 } },
  'conditions that have ended': { claims: { conditionsEndIn: -120 } },
  'conditions that have not begun': { claims: { beginsIn: 600 } },
  'a sign-in that never began': { claims: { requestId: '_other', responseTo: '_other' } },
  'a sign-in that only the response names': { claims: { requestId: '_other' } },
  'another method of confirmation': {
    claims: { method: 'urn:oasis:names:tc:SAML:2.0:cm:sender-vouches' },
  },
  'a name for one session': {
    claims: { format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
  },
  'a forged assertion before the signed one': {
    change: moved((signed, claims) => evilOf(claims, '_evil') + signed),
  },
  'a forged assertion after the signed one': {
    change: moved((signed, claims) => signed + evilOf(claims, '_evil')),
  },
  'a forged assertion with the id of the signed one': {
    change: moved((signed, claims) => evilOf(claims) + signed),
  },
  'the signed assertion within a forged one': {
    change: within(/<\/saml:AttributeStatement>/, '_evil'),
  },
  'the signed assertion in extensions': {
    change: moved(
      (signed, claims) =>
        `<samlp:Extensions>${signed}</samlp:Extensions>${evilOf(claims, '_evil')}`,
    ),
  },
  'the signature in a forged assertion, and what it signed within an object of it': {
    change: moved((signed, claims) => {
      const [own = ''] = signature.exec(signed) ?? []
      const bare = signed.replace(signature, '')
      const holding = own.replace(
        '</ds:Signature>',
        `<ds:Object>${bare}</ds:Object></ds:Signature>`,
      )
      return evilOf(claims, '_evil').replace('</saml:Issuer>', `</saml:Issuer>${holding}`)
    }),
  },
  'a comment in the name': {
    claims: { subject: 'victim.evil' },
    change: (text) => text.replace('victim.evil', 'victim<!-- -->.evil'),
  },
  'an external entity': {
    change: (text) =>
      `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${text.replace('eve@', '&x;eve@')}`,
  },
  'entities of entities': {
    change: (text) =>
      `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${text.replace('eve@', '&b;eve@')}`,
  },
  'an instruction': { change: (text) => `${text}<?php echo 1 ?>` },
  'thousands of tags': { change: (text) => `${'<a>'.repeat(4100)}${text}` },
  'a text that is no XML': { change: () => 'hello' },
}

test.each(Object.entries(forgeries))('a response with %s is rejected', async (_, forgery) => {
  const answer = typeof forgery === 'function' ? forgery() : forgery
  const { location, isSignedIn: isIn } = await fixture.enter('eve@example.com', answer)
  expect([location, isIn]).toEqual([failed, false])
  expect([...(await fixture.sql`select 1 from users where email like '%@example.com'`)]).toEqual([])
})

test('an assertion is accepted once', async () => {
  const browser = new Browser(fixture.gateway)
  const request = await fixture.begin(browser)
  const claims = answerTo(request, issuer, 'ada@required.example')
  const signed = await sign(writeAssertion(claims), claims.id, fixture.keys.current)
  const response = writeResponse(claims, signed)
  const posts = Array.from({ length: 8 }, () => fixture.post(response, request.relayState))
  const locations = await Promise.all(posts)
  expect(locations.filter((one) => one !== failed)).toHaveLength(1)
  expect(await fixture.post(response, request.relayState)).toBe(failed)
})

test('an assertion that was accepted is rejected under another sign-in too', async () => {
  const id = `_${crypto.randomUUID()}`
  expect((await fixture.enter('bob@required.example', { claims: { id } })).isSignedIn).toBe(true)
  const again = await fixture.enter('bob@required.example', { claims: { id } })
  expect([again.location, again.isSignedIn]).toEqual([failed, false])
})

test('a sign-in ends in the browser that began it only', async () => {
  const browser = new Browser(fixture.gateway)
  const request = await fixture.begin(browser)
  const claims = answerTo(request, issuer, 'kim@required.example')
  const signed = await sign(writeAssertion(claims), claims.id, fixture.keys.current)
  const location = await fixture.post(writeResponse(claims, signed), request.relayState)
  const stranger = new Browser(fixture.gateway)
  await fixture.begin(stranger)
  await stranger.send(`GET ${location}`)
  expect(await isSignedIn(stranger)).toBe(false)
})
