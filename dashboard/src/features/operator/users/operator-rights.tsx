import { Select, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { User } from './queries'
import { roleChoices, roleMeanings } from './role-choices'
import { api } from '../../../api/client'
import { operatorRoles, roleNames, useOperatorAccess, type OperatorRole } from '../../../api/role'
import { sessionQuery } from '../../../api/session'
import { Card } from '../../../components/card'
import { Confirm } from '../../../components/confirm'
import { useRefresh } from '../refresh'

type Role = OperatorRole | null

/** The role of an account among operators; full operators change it. */
export function OperatorRights({ user }: { user: User }) {
  const { display_name: name, operator_role: role } = user
  const { may } = useOperatorAccess()
  const [chosen, setChosen] = useState<Role>()
  return (
    <Card title="Operator access">
      <Text size="sm">
        {role === null
          ? `${name} is a customer without access to these pages.`
          : `${roleNames[role]}: ${roleMeanings[role]}`}
      </Text>
      {may('PUT /api/admin/users/{id}') && (
        <Select
          label="Role"
          w={240}
          allowDeselect={false}
          data={roleChoices}
          value={role ?? ''}
          onChange={(value) => {
            const next = toRole(value)
            if (next !== role) setChosen(next)
          }}
        />
      )}
      {chosen !== undefined && (
        <ConfirmRole user={user} role={chosen} onClose={() => setChosen(undefined)} />
      )}
    </Card>
  )
}

const toRole = (value: string | null): Role => operatorRoles.find((role) => role === value) ?? null

interface ConfirmProps {
  user: User
  role: Role
  onClose: () => void
}

function ConfirmRole({ user: { id, display_name: name }, role, onClose }: ConfirmProps) {
  const queries = useQueryClient()
  const { data: session } = useSuspenseQuery(sessionQuery)
  const isOwn = session?.user.id === id
  const refresh = useRefresh()
  const change = async () => {
    const params = { path: { id } }
    await api.PUT('/api/admin/users/{id}', { params, body: { operator_role: role } })
    await Promise.all([refresh(), isOwn && queries.invalidateQueries(sessionQuery)])
    const message =
      role === null ? `${name} has no role any more.` : `${name} has the role ${roleNames[role]}.`
    notifications.show({ message })
  }
  const own = isOwn ? 'This is your own account. ' : ''
  return role === null ? (
    <Confirm
      question={`Revoke operator access of ${name}?`}
      about={`${own}The account immediately loses access to the operator pages and endpoints.`}
      label="Revoke access"
      cancel="Cancel"
      onConfirm={change}
      onClose={onClose}
    />
  ) : (
    <Confirm
      question={`Give ${name} the role ${roleNames[role]}?`}
      about={`${own}${roleMeanings[role]}`}
      label="Give role"
      cancel="Cancel"
      onConfirm={change}
      onClose={onClose}
    />
  )
}
