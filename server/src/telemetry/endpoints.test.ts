import { expect, test } from 'bun:test'
import { findEndpoint, endpoints } from './endpoints'

test.each([
  ['/v1/chat/completions', 'chat_completions'],
  ['/v1/chat/completions/', 'chat_completions'],
  ['/v1/messages/count_tokens', 'count_tokens'],
  ['/v1/models/openai/gpt-4o', 'models'],
  ['/v1/modelsx', 'other'],
  ['/api/admin/users', 'admin_api'],
  ['/api/administrators', 'account_api'],
  ['/api/auth/sign-in/email', 'sign_in'],
  ['/api/account/settings', 'account_api'],
  ['/readyz', 'health'],
  ['/scim/v2/Users', 'scim'],
  ['/made/up/by/somebody', 'other'],
  ['', 'other'],
])('%s is %s', (path, name) => {
  expect(String(endpoints[findEndpoint(path)])).toBe(name)
})
