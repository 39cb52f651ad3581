import { usdOf, wholeNumber } from './number'
import { json } from './server'
import { table } from './table'
import type { Group } from './verb'
import { userIdOf } from './users'

/** Service keys of accounts. */
export const keys: Group = {
  name: 'keys',
  about: 'service keys of an account. <user> is an id or an address',
  verbs: {
    list: {
      words: ['user'],
      about: 'list the keys of an account',
      async run({ operator, words: [user] }) {
        const param = { id: await userIdOf(operator, user) }
        const answer = await (await operator.users[':id'].keys.$get({ param })).json()
        const text = table(answer.keys, [
          ['ID', ({ id }) => id],
          ['NAME', ({ name }) => name],
          ['BEGINS WITH', ({ key_prefix }) => key_prefix],
          ['MAY', ({ permissions }) => permissions.join(' ')],
          ['EXPIRES', ({ expires_at }) => expires_at],
          ['LAST USED', ({ last_used_at }) => last_used_at],
        ])
        return { text, json: answer }
      },
    },
    create: {
      words: ['user'],
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
      },
      async run(asked) {
        const {
          operator,
          words: [user],
          value,
        } = asked
        const fields = {
          name: value('name') ?? 'cli',
          permissions: value('permissions')?.split(','),
          expires_in_days: wholeNumber(asked, 'expires-in-days'),
          monthly_spend_limit: usdOf(asked, 'monthly-spend'),
          rate_limit_requests_per_minute: wholeNumber(asked, 'requests-per-minute'),
        }
        const param = { id: await userIdOf(operator, user) }
        const key = await (await operator.users[':id'].keys.$post({ param }, json(fields))).json()
        return { text: `${key.key}\n`, json: key }
      },
    },
    revoke: {
      words: ['user', 'key-id'],
      about: 'delete a key: every node rejects it at once',
      async run({ operator, words: [user, key = ''] }) {
        const param = { id: await userIdOf(operator, user), key_id: key }
        const answer = await operator.users[':id'].keys[':key_id'].$delete({ param })
        const told = await answer.json()
        return { text: `${told.message}\n`, json: told }
      },
    },
  },
}
