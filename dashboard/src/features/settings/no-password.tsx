import { Anchor, Button, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useSendsEmail } from '../../api/installation'
import { hasPasswordQuery, security, sessionQuery, signIn } from '../../api/session'
import { Problem } from '../../components/problem'
import { ResourceForm } from '../../components/resource-form'
import { useSubmit } from '../../components/use-submit'
import { passwordProblem } from '../sign-in/password'

/** The domain of the first account's placeholder address. */
const unreachable = '@tollgate.internal'

/** Explains how to set an address that receives email. */
const NoMail = ({ id }: { id: string }) => (
  <Text size="sm">
    This address cannot receive email:{' '}
    <Anchor
      size="sm"
      underline="always"
      renderRoot={(props) => <Link to="/operator/users/$id" params={{ id }} {...props} />}
    >
      change the account's address
    </Anchor>{' '}
    first.
  </Text>
)

/** For accounts that signed in by an operator's link or another provider. */
export function NoPassword() {
  const sendsEmail = useSendsEmail()
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm" maw={520} align="flex-start">
        <Title order={2} size="h4">
          Password
        </Title>
        <Text size="sm">
          This account has no password: you signed in with a link or another provider. With a
          password you can sign in directly and enable two-factor authentication.
        </Text>
        {sendsEmail ? <PasswordByEmail /> : <FirstPassword />}
      </Stack>
    </Paper>
  )
}

/** Sets the password directly, where the service sends no email. */
function FirstPassword() {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { next: '' }, validate: { next: passwordProblem } })
  const save = async ({ next }: typeof form.values) => {
    await security.setPassword(next)
    form.reset()
    notifications.show({ message: 'Your password was set.' })
    await queries.invalidateQueries(hasPasswordQuery)
  }
  return (
    <ResourceForm form={form} save={save} label="Set password" kind="action" isGuarded={false}>
      <PasswordInput
        label="New password"
        autoComplete="new-password"
        required
        {...form.getInputProps('next')}
      />
    </ResourceForm>
  )
}

/** Mails a link that sets the password. */
function PasswordByEmail() {
  const { data } = useSuspenseQuery(sessionQuery)
  const email = data?.user.email ?? ''
  const [isSent, setSent] = useState(false)
  const { submit, isBusy, error } = useSubmit(async () => {
    await signIn.forgot(email)
    setSent(true)
  })
  return (
    <>
      <Problem error={error} />
      {data && email.endsWith(unreachable) && <NoMail id={data.user.id} />}
      {isSent ? (
        <Text size="sm" role="status">
          An email is on its way to {email}. Its link lets you set a password; you are then signed
          out everywhere and sign in with it. If no email arrives, contact the operator of this
          service.
        </Text>
      ) : (
        <Button loading={isBusy} onClick={() => void submit(undefined)}>
          Email me a link to set a password
        </Button>
      )}
    </>
  )
}
