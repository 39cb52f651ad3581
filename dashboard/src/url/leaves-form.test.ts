import { expect, test } from 'bun:test'
import { leavesForm } from './leaves-form'

const at = (pathname: string, search: object = {}) => ({ pathname, search })

test('finding B14: another page, tab or open item leaves a form; filters and paging do not', () => {
  expect(leavesForm(at('/settings'), at('/keys'))).toBe(true)
  expect(leavesForm(at('/o', { tab: 'settings' }), at('/o', { tab: 'members' }))).toBe(true)
  expect(leavesForm(at('/prompts', { prompt: 'one' }), at('/prompts'))).toBe(true)
  expect(leavesForm(at('/billing', { page: 2 }), at('/billing', { page: 3 }))).toBe(false)
  expect(leavesForm(at('/alerts'), at('/alerts', { search: 'cost' }))).toBe(false)
})
