import { sql, type Kysely, type Transaction } from 'kysely'
import { toOperatorRole, type OperatorRole } from '../../../platform/operator-role'
import { ApiError, invalidRequest } from '../../../errors'
import type { Schema } from '../../../platform/db/schema'

/** The fields of a request that set a role. */
interface RoleFields {
  is_operator?: boolean | undefined
  operator_role?: OperatorRole | null | undefined
}

/** Whether both fields are set, and say different things. */
export const isContradiction = ({ is_operator: isOperator, operator_role: role }: RoleFields) =>
  isOperator !== undefined && role !== undefined && isOperator !== (role === 'operator')

/** Returns the role that a request sets, null for none; undefined where it sets nothing. */
export function toRequestedRole({
  is_operator: isOperator,
  operator_role: role,
}: RoleFields): OperatorRole | null | undefined {
  if (role !== undefined || isOperator === undefined) return role
  return isOperator ? 'operator' : null
}

/** Rejects for the last active full operator. Full operators are changed one after another. */
export async function refuseLastOperator(trx: Transaction<Schema>, id: string): Promise<void> {
  // In one order, so that two transactions do not wait for each other.
  const { rows } = await sql<{ id: string }>`
    select id from users where is_operator and status = 'active'
    order by id for no key update`.execute(trx)
  if (rows.length !== 1 || rows[0]?.id !== id) return
  throw invalidRequest(
    null,
    'wrong_state',
    'The account is the last active operator. Make another account an operator first.',
  )
}

/** Rejects with `insufficient_permissions` for the account of an operator, unless a full operator asks. */
export async function requireCustomer(
  db: Kysely<Schema>,
  id: string,
  role: OperatorRole,
): Promise<void> {
  if (role === 'operator') return
  const user = await db
    .selectFrom('users')
    .select(['is_operator', 'operator_role'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!user || toOperatorRole(user) === null) return
  throw new ApiError('insufficient_permissions', {
    message: 'Accounts of operators are changed by the role "operator" only.',
    details: { required: ['operator'], current: [role] },
  })
}
