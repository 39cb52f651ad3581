import { Anchor, Button, Code, SimpleGrid, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { admin, json } from '../../api'
import { Card } from '../../components/card'
import { Confirm } from '../../components/confirm'
import { Facts } from '../../components/facts'
import { Moment } from '../../components/moment'
import { When } from '../../components/when'
import { exactUsd } from '../../figures'
import { useRefresh } from '../../operator/refresh'
import type { User } from '../../operator/users'

const yesNo = (value: boolean) => (value ? 'yes' : 'no')

/** An organization, by its id. */
const Organization = ({ id }: { id: string }) => (
  <Anchor
    size="sm"
    renderRoot={(props) => (
      <Link to="/operator/organizations/$id" params={{ id }} search={{}} {...props} />
    )}
  >
    {id}
  </Anchor>
)

/** What the account has set itself, and what it may do. */
export const UserSettings = ({ user }: { user: User }) => (
  <SimpleGrid cols={{ base: 1, md: 2 }}>
    <Card title="Settings of the account">
      <Facts facts={factsOf(user)} />
    </Card>
    <OperatorRights user={user} />
  </SimpleGrid>
)

const factsOf = (user: User) =>
  [
    ['Id', <Code key="id">{user.id}</Code>],
    ['Handle', user.handle ?? 'none'],
    [
      'Calls are paid by',
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
    ['Texts of calls are kept', yesNo(user.log_bodies)],
    ['Payment method kept', yesNo(user.payment_method_saved)],
    [
      'Automatic recharge',
      user.auto_recharge.enabled
        ? `${exactUsd(user.auto_recharge.amount)} below ${exactUsd(user.auto_recharge.threshold)}`
        : 'off',
    ],
    ['Last active', <Moment key="active" at={user.last_active_at} />],
    ['Since', <When key="since" at={user.created_at} />],
  ] as const

function OperatorRights({ user }: { user: User }) {
  const { id, display_name: name, is_operator: isOperator } = user
  const [isAsked, setAsked] = useState(false)
  const refresh = useRefresh()
  const change = async () => {
    await admin.users[':id'].$put({ param: { id } }, json({ is_operator: !isOperator }))
    await refresh()
    notifications.show({
      message: isOperator
        ? `${name} operates this service no more.`
        : `${name} is an operator now.`,
    })
  }
  return (
    <Card title="Operating this service">
      <Text size="sm">
        {isOperator
          ? `${name} is an operator: sees and changes what you see here.`
          : `${name} is a customer, and sees nothing of these pages.`}
      </Text>
      <div>
        <Button
          variant="light"
          color={isOperator ? 'red' : 'orange'}
          onClick={() => setAsked(true)}
        >
          {isOperator ? 'Take the rights away' : 'Make an operator'}
        </Button>
      </div>
      {isAsked && (
        <Confirm
          question={
            isOperator ? `Take ${name} the rights of an operator?` : `Make ${name} an operator?`
          }
          about={
            isOperator
              ? 'The pages and endpoints of operators are closed to the account at once. Look first that somebody else is left who has them.'
              : 'The account may then see and change every account, every balance and every key of a provider.'
          }
          label={isOperator ? 'Take them away' : 'Make an operator'}
          cancel="Cancel"
          onConfirm={change}
          onClose={() => setAsked(false)}
        />
      )}
    </Card>
  )
}
