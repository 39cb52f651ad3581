import { createHash } from 'node:crypto'
import { collection, unusedName } from '../authorization/kind'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

const document = JSON.stringify({
  date: '2026-11-23',
  models: [
    {
      id: 'openai/gpt-99',
      name: 'GPT-99',
      category: 'chat',
      input: ['text'],
      output: ['text'],
      capabilities: [],
      created: 1_790_000_000,
      price: { input: 1, output: 2 },
    },
  ],
})

/**
 * A body with which an operator's route changes something, for all of which the matrix's own (`bodies` of
 * `tests/api/authorization/rules.ts`) does not; `customer` is an account.
 */
export const changes: Readonly<Record<string, (customer: Customer) => Json>> = {
  'POST /api/admin/users': () => ({ email: `${unusedName('trail')}@example.com` }),
  'POST /api/admin/audit-destinations': () => ({
    name: 'SIEM',
    kind: 'webhook',
    url: 'https://siem.example.com',
    enabled: false,
  }),
  'PUT /api/admin/audit-destinations/:id': () => ({ name: 'Another' }),
  'POST /api/admin/legal-holds': ({ userId }) => ({ subject_id: userId, reason: 'A test.' }),
  'POST /api/admin/scim-directories': () => ({ name: 'Some', domains: ['example.com'] }),
  'POST /api/admin/plans': () => ({ name: unusedName('plan') }),
  'POST /api/admin/providers': () => ({
    key: unusedName('maker'),
    name: 'Maker',
    adapter: 'openai',
  }),
  'POST /api/admin/models': () => ({
    id: `fake/${unusedName('model')}`,
    name: 'Some',
    category: 'chat',
    pricing: { input: 1, output: 4 },
  }),
  'POST /api/admin/connections': () => ({
    name: 'Ours',
    provider: 'fake',
    api_key: 'sk-0123456789',
    endpoint_url: 'http://127.0.0.1:9',
  }),
  'POST /api/admin/collections': collection,
  'POST /api/admin/credits/grant': ({ userId }) => ({
    user_id: userId,
    amount: 1,
    reason: 'A gift.',
  }),
  'POST /api/admin/credits/adjust': ({ userId }) => ({
    user_id: userId,
    amount: 2,
    reason: 'A mistake.',
  }),
  'POST /api/admin/catalog/preview': () => ({ document }),
  'POST /api/admin/catalog/apply': () => ({
    document,
    digest: createHash('sha256').update(document).digest('hex'),
  }),
  'PUT /api/admin/branding': () => ({ name: unusedName('Gate') }),
}
