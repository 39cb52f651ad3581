import { describe, expect, test } from 'bun:test'
import { CallIds, callIdsIn, toProviderCallId } from './call-ids'
import { withUniqueCalls } from './unique-calls'

const past = (...ids: string[]) => ({
  newCallId: () => 'call_new',
  pastCallIds: () => new Set(ids),
})

describe('finding V7: ids of calls', () => {
  test('an id of the conversation, or of the same answer, receives a number, and is the provider’s without it', () => {
    const ids = new CallIds(past('call_0', 'call_0__repeat__2'))
    expect([ids.next('call_0'), ids.next('call_1'), ids.next('call_1')]).toEqual([
      'call_0__repeat__3',
      'call_1',
      'call_1__repeat__2',
    ])
    expect(toProviderCallId('call_0__repeat__3')).toBe('call_0')
    expect(toProviderCallId('functions.look:0__repeat__2')).toBe('functions.look:0')
  })

  test('a signature stays behind it, and does not make two ids different', () => {
    const ids = new CallIds(past('a'))
    expect(ids.next('a__thought__c2ln')).toBe('a__repeat__2__thought__c2ln')
    expect(toProviderCallId('a__repeat__2__thought__c2ln')).toBe('a')
  })

  test('a unique id stays as it is, and a missing one is made', () => {
    const ids = new CallIds({ newCallId: () => 'call_new' })
    expect([ids.next('x'), ids.next('')]).toEqual(['x', 'call_new'])
    expect(toProviderCallId('__repeat__2')).toBe('__repeat__2')
    expect(toProviderCallId('call_2')).toBe('call_2')
  })

  test('an id repeated 100,000 times does not block the process', () => {
    const ids = new CallIds({ newCallId: () => '' })
    let last = ''
    for (let count = 0; count < 100_000; count++) last = ids.next('a')
    expect(last).toBe('a__repeat__100000')
  })

  test('the history is read only for a call', () => {
    let reads = 0
    const ids = new CallIds({ newCallId: () => '', pastCallIds: () => new Set([String(++reads)]) })
    expect(reads).toBe(0)
    ids.next('a')
    ids.next('b')
    expect(reads).toBe(1)
  })

  test('each id is looked up a few times, for any number of repeats', () => {
    let lookups = 0
    class CountedSet extends Set<string> {
      override has(id: string): boolean {
        lookups += 1
        return super.has(id)
      }
    }
    const taken = Array.from({ length: 999 }, (_, at) => `a__repeat__${at + 2}`)
    const pastIds = new CountedSet(['a', ...taken])
    const ids = new CallIds({ newCallId: () => '', pastCallIds: () => pastIds })
    expect([ids.next('a'), ids.next('a')]).toEqual(['a__repeat__1001', 'a__repeat__1002'])
    expect(lookups).toBeLessThan(1100)
  })

  test('in a history are the ids of its calls, without signatures', () => {
    const calls = [{ id: 'a__thought__c2ln' }, { id: 7 }, 'x']
    expect(callIdsIn({ messages: [{ tool_calls: calls }, { role: 'user' }, 1] })).toEqual(
      new Set(['a']),
    )
    expect(callIdsIn({})).toEqual(new Set())
  })
})

const user = { role: 'user', content: 'Look.' }
const turn = (...ids: string[]) => ({ role: 'assistant', tool_calls: ids.map((id) => ({ id })) })
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

describe('finding V7: a history in which ids repeat', () => {
  test('has others in later turns, each result with its call', () => {
    const history = [user, turn('a'), result('a', '1'), turn('a'), result('a', '2'), user]
    expect(withUniqueCalls(history)).toEqual([
      user,
      turn('a'),
      result('a', '1'),
      turn('a__repeat__2'),
      result('a__repeat__2', '2'),
      user,
    ])
  })

  test('has others within a turn, and results in the order of the calls', () => {
    const history = [turn('a', 'a', 'b'), result('a', '1'), result('b', '2'), result('a', '3')]
    expect(withUniqueCalls(history)).toEqual([
      turn('a', 'a__repeat__2', 'b'),
      result('a', '1'),
      result('b', '2'),
      result('a__repeat__2', '3'),
    ])
  })

  test('a result after a later turn belongs to that turn, although an earlier one has none', () => {
    const history = [turn('a'), user, turn('a'), result('a', '2'), result('a', '3')]
    expect(withUniqueCalls(history).slice(2)).toEqual([
      turn('a__repeat__2'),
      result('a__repeat__2', '2'),
      result('a__repeat__2', '3'),
    ])
  })

  test('is the same list if none repeats', () => {
    const history = [user, turn('a', 'b'), result('b', '1'), result('a', '2'), turn('c')]
    expect(withUniqueCalls(history)).toBe(history)
  })
})
