import { Anchor, Button, Code, SimpleGrid, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api/client'
import { Card } from '../../../components/card'
import { Confirm } from '../../../components/confirm'
import { Facts } from '../../../components/facts'
import { Moment } from '../../../components/moment'
import { When } from '../../../components/when'
import { usd } from '../../../format/money'
import { useRefresh } from '../refresh'
import { operatedOneQuery } from '../organizations/queries'
import type { User } from './queries'
import { sessionQuery } from '../../../api/session'

const yesNo = (value: boolean) => (value ? 'yes' : 'no')

/** An organization, by its name. */
function Organization({ id }: { id: string }) {
  const { data } = useQuery(operatedOneQuery(id))
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link to="/operator/organizations/$id" params={{ id }} search={{}} {...props} />
      )}
    >
      {data?.name ?? id}
    </Anchor>
  )
}

/** The settings the user has made, and operator access. */
export const UserSettings = ({ user }: { user: User }) => (
  <SimpleGrid cols={{ base: 1, md: 2 }}>
    <Card title="Account settings">
      <Facts facts={factsOf(user)} />
    </Card>
    <OperatorRights user={user} />
  </SimpleGrid>
)

const factsOf = (user: User) =>
  [
    ['ID', <Code key="id">{user.id}</Code>],
    ['Handle', user.handle ?? 'none'],
    [
      'Requests billed to',
      user.funding_organization_id === null ? (
        'the account'
      ) : (
        <Organization key="payer" id={user.funding_organization_id} />
      ),
    ],
    [
      'Primary organization',
      user.primary_organization_id === null ? (
        'none'
      ) : (
        <Organization key="primary" id={user.primary_organization_id} />
      ),
    ],
    ['Request bodies stored', yesNo(user.log_bodies)],
    [
      'Model names without a provider',
      user.bare_model_names === null ? 'as configured' : yesNo(user.bare_model_names),
    ],
    ['Payment method saved', yesNo(user.payment_method_saved)],
    [
      'Automatic recharge',
      user.auto_recharge.enabled
        ? `${usd(user.auto_recharge.amount)} below ${usd(user.auto_recharge.threshold)}`
        : 'disabled',
    ],
    ['Last active', <Moment key="active" at={user.last_active_at} />],
    ['Created', <When key="since" at={user.created_at} />],
  ] as const

function OperatorRights({ user }: { user: User }) {
  const { id, display_name: name, is_operator: isOperator } = user
  const [isConfirming, setConfirming] = useState(false)
  const queries = useQueryClient()
  const { data: session } = useSuspenseQuery(sessionQuery)
  const isOwn = session?.user.id === id
  const refresh = useRefresh()
  const change = async () => {
    await api.PUT('/api/admin/users/{id}', {
      params: { path: { id } },
      body: { is_operator: !isOperator },
    })
    await Promise.all([refresh(), isOwn && queries.invalidateQueries(sessionQuery)])
    notifications.show({
      message: isOperator ? `${name} is no longer an operator.` : `${name} is now an operator.`,
    })
  }
  return (
    <Card title="Operator access">
      <Text size="sm">
        {isOperator
          ? `${name} is an operator with full access to these pages.`
          : `${name} is a customer without access to these pages.`}
      </Text>
      <div>
        <Button
          variant="light"
          color={isOperator ? 'red' : 'orange'}
          onClick={() => setConfirming(true)}
        >
          {isOperator ? 'Revoke operator access' : 'Grant operator access'}
        </Button>
      </div>
      {isConfirming && (
        <Confirm
          question={
            isOperator ? `Revoke operator access of ${name}?` : `Grant operator access to ${name}?`
          }
          about={
            isOperator
              ? `${isOwn ? 'This is your own account. ' : ''}The account immediately loses access to the operator pages and endpoints. Make sure that another operator remains.`
              : 'The account gains access to every account, every balance and every provider key.'
          }
          label={isOperator ? 'Revoke access' : 'Grant access'}
          cancel="Cancel"
          onConfirm={change}
          onClose={() => setConfirming(false)}
        />
      )}
    </Card>
  )
}
