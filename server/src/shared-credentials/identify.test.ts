import { describe, expect, test } from 'bun:test'
import { AccountIdentifiers } from './account-identifiers'
import { identifyAccount, identifyInConverse, identifyInMessage } from './identify'
import type { IdentifierField } from '../providers/identifier-fields'
import type { JsonObject } from '../wire/json-body'

const identifiers = new AccountIdentifiers('the secret of an installation')
const requestOf = (accountId: string, from = identifiers) => ({
  principal: { accountId },
  ports: { identifiers: from },
})

describe('finding S26: the identifiers of an account', () => {
  test('are the same after every start and on every node, and others in another installation', () => {
    const again = new AccountIdentifiers('the secret of an installation')
    expect(again.ofAccount('usr_1')).toBe(identifiers.ofAccount('usr_1'))
    expect(again.ofName('usr_1', 'user-1')).toBe(identifiers.ofName('usr_1', 'user-1'))
    const other = new AccountIdentifiers('the secret of another')
    expect(other.ofAccount('usr_1')).not.toBe(identifiers.ofAccount('usr_1'))
    expect(other.ofName('usr_1', 'user-1')).not.toBe(identifiers.ofName('usr_1', 'user-1'))
  })

  test('never equal those of another account, for any value it sends', () => {
    const all = [
      identifiers.ofAccount('usr_1'),
      identifiers.ofAccount('usr_2'),
      ...['user-1', 'usr_1', 'usr_2', '', '\n', identifiers.ofAccount('usr_1')].flatMap((name) => [
        identifiers.ofName('usr_1', name),
        identifiers.ofName('usr_2', name),
      ]),
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  test('fit every provider: at most 64 characters, as some accept letters and digits alone', () => {
    for (const identifier of [
      identifiers.ofAccount('usr_1'),
      identifiers.ofName('usr_1', 'x'.repeat(100_000)),
      identifiers.ofName('usr_1', { an: 'object' }),
    ]) {
      expect(identifier).toMatch(/^[\da-f]{48}$/)
    }
  })

  test('reveal neither the account nor the name', () => {
    expect(identifiers.ofName('usr_1', 'a@example.com')).not.toContain('example')
  })

  test('are derived again for an evicted account', () => {
    const fresh = new AccountIdentifiers('secret')
    const first = fresh.ofAccount('usr_0')
    for (let at = 1; at <= 10_001; at++) fresh.ofAccount(`usr_${at}`)
    expect(fresh.ofAccount('usr_0')).toBe(first)
  })
})

const sent = (body: JsonObject, known: readonly IdentifierField[], accountId = 'usr_1') => {
  const copy = { ...body }
  identifyAccount(copy, known, requestOf(accountId))
  return copy
}
const own = identifiers.ofAccount('usr_1')
const named = (name: unknown) => identifiers.ofName('usr_1', name)

function identify(body: JsonObject): JsonObject {
  identifyInMessage(body, requestOf('usr_1'))
  return body
}

describe('finding S26: a request on a credential that accounts share', () => {
  test('receives the identifiers of its provider if the caller wrote none', () => {
    expect(sent({ model: 'm' }, ['safety_identifier', 'prompt_cache_key'])).toEqual({
      model: 'm',
      safety_identifier: own,
      prompt_cache_key: own,
    })
    expect(sent({ model: 'm', user: null, cache_salt: '' }, ['user'])).toEqual({
      model: 'm',
      user: own,
    })
  })

  test('receives no field that its provider may reject', () => {
    expect(sent({ model: 'm' }, [])).toEqual({ model: 'm' })
  })

  test.each([
    'user',
    'safety_identifier',
    'prompt_cache_key',
    'user_id',
    'session_id',
    'cache_salt',
    'prompt_cache_isolation_key',
  ])('has no %s as the caller wrote it', (field) => {
    expect(sent({ [field]: 'user-1' }, [])).toEqual({ [field]: named('user-1') })
    expect(sent({ [field]: 'user-1' }, [], 'usr_2')).not.toEqual({ [field]: named('user-1') })
    expect(sent({ [field]: 7 }, [])).toEqual({ [field]: named(7) })
  })

  test('names one end user by any field of its provider', () => {
    expect(sent({ user: 'user-1' }, ['user_id', 'prompt_cache_key'])).toEqual({
      user: named('user-1'),
      user_id: named('user-1'),
      prompt_cache_key: own,
    })
  })

  test('names the end user in the metadata of a message, and nothing else', () => {
    expect(identify({})).toEqual({ metadata: { user_id: own } })
    expect(identify({ metadata: null })).toEqual({ metadata: { user_id: own } })
    expect(identify({ metadata: { user_id: 'user-1', other: 'x' } })).toEqual({
      metadata: { user_id: named('user-1') },
    })
  })

  test('is labelled for the logs of Bedrock', () => {
    const body: JsonObject = {}
    identifyInConverse(body, requestOf('usr_1'))
    expect(body).toEqual({ requestMetadata: { end_user: own } })
  })
})
