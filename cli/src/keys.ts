import { choiceOf } from './choice'
import { usdOf, parseInteger } from './number'
import { bodyOf } from './server'
import { table } from './table'
import type { Group } from './verb'
import { userIdOf } from './users'

const permissions = ['read', 'write', 'admin'] as const

/** Service keys of accounts. */
export const keys: Group = {
  name: 'keys',
  about: 'service keys of an account. <user> is an id or an address',
  verbs: {
    list: {
      positionals: ['user'],
      about: 'list the keys of an account',
      async run({ operator, positionals: [user] }) {
        const params = { path: { id: await userIdOf(operator, user) } }
        const answer = await bodyOf(operator.GET('/api/admin/users/{id}/keys', { params }))
        const text = table(answer.keys, [
          ['ID', ({ id }) => id],
          ['NAME', ({ name }) => name],
          ['BEGINS WITH', ({ key_prefix }) => key_prefix],
          ['MAY', ({ permissions }) => permissions.join(' ')],
          ['EXPIRES', ({ expires_at }) => expires_at],
          ['LAST USED', ({ last_used_at }) => last_used_at],
          ['TAGS', ({ tags }) => tags.join(', ')],
        ])
        return { text, json: answer }
      },
    },
    create: {
      positionals: ['user'],
      about: 'create a key. Prints only the key, once; it cannot be shown again',
      options: {
        name: { value: 'text', about: 'display name; "cli" by default' },
        permissions: {
          value: 'read,write',
          about: 'its permissions, separated by commas; also: admin',
        },
        'expires-in-days': { value: 'n', about: 'when it expires; never by default' },
        'monthly-spend': { value: 'usd', about: 'its spending limit for a month' },
        'requests-per-minute': { value: 'n', about: 'its own rate limit' },
        tags: { value: 'a,b', about: 'tags of its requests, separated by commas' },
      },
      async run(invocation) {
        const {
          operator,
          positionals: [user],
          value,
        } = invocation
        const body = {
          name: value('name') ?? 'cli',
          permissions: value('permissions')
            ?.split(',')
            .map((text) => choiceOf('permissions', text, permissions)),
          expires_in_days: parseInteger(invocation, 'expires-in-days'),
          monthly_spend_limit: usdOf(invocation, 'monthly-spend'),
          rate_limit_requests_per_minute: parseInteger(invocation, 'requests-per-minute'),
          tags: value('tags')
            ?.split(',')
            .map((text) => text.trim()),
        }
        const params = { path: { id: await userIdOf(operator, user) } }
        const key = await bodyOf(operator.POST('/api/admin/users/{id}/keys', { params, body }))
        return { text: `${key.key}\n`, json: key }
      },
    },
    revoke: {
      positionals: ['user', 'key-id'],
      about: 'delete a key: every node rejects it at once',
      async run({ operator, positionals: [user, key = ''] }) {
        const params = { path: { id: await userIdOf(operator, user), key_id: key } }
        const answer = await bodyOf(
          operator.DELETE('/api/admin/users/{id}/keys/{key_id}', { params }),
        )
        return { text: `${answer.message}\n`, json: answer }
      },
    },
  },
}
