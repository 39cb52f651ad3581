/**
 * The roles of operators, the most powerful first. `operator` may do everything; each route names the other roles
 * that may call it. Source: contract 2.7.
 */
export const operatorRoles = ['operator', 'support', 'finance', 'read_only'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** A role beside that of full operators. */
export type LimitedRole = Exclude<OperatorRole, 'operator'>

/** The columns of an account that hold its role. Nodes of earlier versions know the first alone. */
interface StoredRole {
  is_operator: boolean
  operator_role: LimitedRole | null
}

/** Returns the role of an account; null for one that is no operator. */
export const toOperatorRole = ({
  is_operator: isOperator,
  operator_role: role,
}: StoredRole): OperatorRole | null => (isOperator ? 'operator' : role)

/** Returns the columns that store a role. */
export const toRoleColumns = (role: OperatorRole | null): StoredRole => ({
  is_operator: role === 'operator',
  operator_role: role === 'operator' ? null : role,
})
