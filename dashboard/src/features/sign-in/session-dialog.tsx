import { Anchor, Group, Modal, PasswordInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useWindowEvent } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { currentSession, sessionQuery, signIn } from '../../api/session'
import { ResourceForm } from '../../components/resource-form'

const stay = () => undefined

/** Above every other dialog, whose form keeps what was typed. */
const zIndex = 1000

interface Props {
  onClose: () => void
}

/**
 * Signs in again over a page whose session has ended, so that the page keeps what was typed. Signing in elsewhere, as by a
 * link in a new tab, counts once the user returns to this tab; another account starts on a new page.
 */
export function SessionDialog({ onClose }: Props) {
  const queries = useQueryClient()
  const [needsFactor, setNeedsFactor] = useState(false)
  const user = queries.getQueryData(sessionQuery.queryKey)?.user
  const resume = async () => {
    const session = await currentSession()
    if (!session) return
    if (session.user.id !== user?.id) return window.location.assign('/')
    queries.setQueryData(sessionQuery.queryKey, session)
    onClose()
    await queries.invalidateQueries()
  }
  useWindowEvent('focus', () => void resume().catch(stay))
  return (
    <Modal
      opened
      onClose={stay}
      withCloseButton={false}
      title="Your session has ended"
      zIndex={zIndex}
      overlayProps={{ blur: 6 }}
    >
      <Text size="sm" mb="sm">
        Sign in again to continue. What you typed on this page is kept.
      </Text>
      {needsFactor ? (
        <Factor onComplete={resume} />
      ) : (
        <Password
          email={user?.email ?? ''}
          onComplete={async (isNext) => (isNext ? setNeedsFactor(true) : resume())}
        />
      )}
      <Group justify="space-between" mt="md">
        <Anchor size="sm" href="/sign-in" target="_blank" rel="noopener">
          Sign in another way, in a new tab
        </Anchor>
        <Anchor size="sm" href="/sign-in">
          Leave this page
        </Anchor>
      </Group>
    </Modal>
  )
}

interface PasswordProps {
  email: string
  /** Receives whether a second factor is required next. */
  onComplete: (needsFactor: boolean) => Promise<void>
}

function Password({ email, onComplete }: PasswordProps) {
  const form = useForm({ initialValues: { email, password: '' } })
  const save = async (fields: typeof form.values) => {
    const { needsFactor } = await signIn.withPassword(fields)
    await onComplete(needsFactor)
  }
  return (
    <ResourceForm form={form} save={save} label="Sign in" kind="entry">
      <TextInput
        label="Email"
        type="email"
        autoComplete="username"
        readOnly
        {...form.getInputProps('email')}
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        data-autofocus
        {...form.getInputProps('password')}
      />
    </ResourceForm>
  )
}

function Factor({ onComplete }: { onComplete: () => Promise<void> }) {
  const form = useForm({ initialValues: { code: '' } })
  const save = async ({ code }: typeof form.values) => {
    await signIn.withFactor(code.trim())
    await onComplete()
  }
  return (
    <ResourceForm form={form} save={save} label="Continue" kind="entry">
      <TextInput
        label="Code from your authenticator app, or a backup code"
        autoComplete="one-time-code"
        required
        autoFocus
        {...form.getInputProps('code')}
      />
    </ResourceForm>
  )
}
