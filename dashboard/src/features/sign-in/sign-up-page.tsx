import { Anchor, PasswordInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { EntryCard } from './entry-card'
import { ResourceForm } from '../../components/resource-form'
import { ServiceButtons } from './service-buttons'
import { minPassword, passwordProblem } from './password'
import { useSendsEmail } from '../../api/installation'
import { signIn } from '../../api/session'

export function SignUpPage() {
  const [sentTo, setSentTo] = useState<string>()
  const form = useForm({
    initialValues: { name: '', email: '', password: '' },
    validate: { password: passwordProblem },
  })
  const save = async (account: typeof form.values) => {
    await signIn.signUp(account)
    setSentTo(account.email)
  }
  if (sentTo) return <NextStep email={sentTo} />
  return (
    <EntryCard title="Create an account">
      <ResourceForm form={form} save={save} label="Create account" kind="entry">
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
          description={`At least ${minPassword} characters`}
          autoComplete="new-password"
          required
          {...form.getInputProps('password')}
        />
      </ResourceForm>
      <ServiceButtons />
      <BackToSignIn />
    </EntryCard>
  )
}

/** Says how the owner of a new account confirms its address. */
const NextStep = ({ email }: { email: string }) =>
  useSendsEmail() ? (
    <EntryCard title="Check your email">
      <Text size="sm">
        We sent a link to {email}. Open it within one hour to confirm the address.
      </Text>
      <BackToSignIn />
    </EntryCard>
  ) : (
    <EntryCard title="Ask for a sign-in link">
      <Text size="sm">
        This service sends no email, so that {email} cannot be confirmed by one. Ask its operator
        for a sign-in link to your account: it confirms the address, and you then set a password
        under Security.
      </Text>
      <BackToSignIn />
    </EntryCard>
  )

const BackToSignIn = () => (
  <Anchor size="sm" component={Link} to="/sign-in">
    Already have an account? Sign in
  </Anchor>
)
