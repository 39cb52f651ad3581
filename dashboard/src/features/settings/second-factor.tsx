import {
  Badge,
  Code,
  Group,
  Paper,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ResourceForm } from '../../components/resource-form'
import { security, sessionQuery, signIn } from '../../api/session'

interface Enrolment {
  totpURI: string
  backupCodes: string[]
}

/** Enables and disables two-factor authentication with an authenticator app. */
export function SecondFactor() {
  const queries = useQueryClient()
  const { data } = useSuspenseQuery(sessionQuery)
  const [enrolment, setEnrolment] = useState<Enrolment>()
  const isOn = data?.user.twoFactorEnabled === true
  const refresh = async (message: string) => {
    setEnrolment(undefined)
    await queries.invalidateQueries(sessionQuery)
    notifications.show({ message })
  }
  const toggle = async (password: string) => {
    if (!isOn) return setEnrolment(await security.enableFactor(password))
    await security.disableFactor(password)
    return refresh('Two-factor authentication disabled.')
  }
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm" maw={520}>
        <Group gap="xs">
          <Title order={2} size="h4">
            Two-factor authentication
          </Title>
          <Badge variant="light" color={isOn ? 'green' : 'gray'}>
            {isOn ? 'enabled' : 'disabled'}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          Every sign-in requires a code from an authenticator app, also by a link or another
          provider. Enabling it signs out your other sessions.
        </Text>
        {enrolment ? (
          <Confirmation
            enrolment={enrolment}
            onComplete={() => refresh('Two-factor authentication enabled.')}
          />
        ) : (
          <Toggle isOn={isOn} toggle={toggle} />
        )}
      </Stack>
    </Paper>
  )
}

interface ToggleProps {
  isOn: boolean
  toggle: (password: string) => Promise<void>
}

function Toggle({ isOn, toggle }: ToggleProps) {
  const form = useForm({ initialValues: { password: '' } })
  const save = async ({ password }: typeof form.values) => {
    form.reset()
    await toggle(password)
  }
  return (
    <ResourceForm
      form={form}
      save={save}
      label={isOn ? 'Disable' : 'Enable'}
      kind="action"
      isGuarded={false}
    >
      <PasswordInput
        label="Your password"
        autoComplete="current-password"
        required
        maw={380}
        {...form.getInputProps('password')}
      />
    </ResourceForm>
  )
}

interface ConfirmationProps {
  enrolment: Enrolment
  onComplete: () => Promise<void>
}

function Confirmation({ enrolment: { totpURI, backupCodes }, onComplete }: ConfirmationProps) {
  const form = useForm({ initialValues: { code: '' } })
  const save = async ({ code }: typeof form.values) => {
    await signIn.withCode(code.trim())
    await onComplete()
  }
  return (
    <Stack gap="sm">
      <Text size="sm">Add this key to your authenticator app:</Text>
      <Code block>{new URL(totpURI).searchParams.get('secret')}</Code>
      <Text size="sm">
        Store these backup codes safely. Each one signs you in once if you lose the app:
      </Text>
      <SimpleGrid cols={2} spacing={4}>
        {backupCodes.map((code) => (
          <Code key={code}>{code}</Code>
        ))}
      </SimpleGrid>
      <ResourceForm form={form} save={save} label="Confirm" kind="action" isGuarded={false}>
        <TextInput
          label="Verification code"
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          maw={380}
          {...form.getInputProps('code')}
        />
      </ResourceForm>
    </Stack>
  )
}
