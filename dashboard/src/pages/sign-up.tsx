import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { EntryCard } from '../components/entry-card'
import { Problem } from '../components/problem'
import { ServiceButtons } from '../components/service-buttons'
import { leastPassword, passwordProblem } from '../password'
import { signIn } from '../session'
import { useSubmit } from '../submit'

export function SignUpPage() {
  const [sentTo, setSentTo] = useState<string>()
  const form = useForm({
    initialValues: { name: '', email: '', password: '' },
    validate: { password: passwordProblem },
  })
  const { submit, isBusy, error } = useSubmit(async (account: typeof form.values) => {
    await signIn.signUp(account)
    setSentTo(account.email)
  })
  if (sentTo) {
    return (
      <EntryCard title="Check your email">
        <Text size="sm">
          We sent a link to {sentTo}. Open it within one hour to confirm the address.
        </Text>
        <BackToSignIn />
      </EntryCard>
    )
  }
  return (
    <EntryCard title="Create an account">
      <form onSubmit={form.onSubmit((account) => void submit(account))}>
        <Stack gap="sm">
          <Problem error={error} />
          <TextInput
            label="Name"
            autoComplete="name"
            required
            autoFocus
            maxLength={100}
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            required
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            description={`At least ${leastPassword} characters`}
            autoComplete="new-password"
            required
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={isBusy} mt="xs">
            Create account
          </Button>
        </Stack>
      </form>
      <ServiceButtons />
      <BackToSignIn />
    </EntryCard>
  )
}

const BackToSignIn = () => (
  <Anchor size="sm" component={Link} to="/sign-in">
    Already have an account? Sign in
  </Anchor>
)
