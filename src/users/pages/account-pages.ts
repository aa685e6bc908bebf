import { html } from '../../platform/http/pages/html.ts'
import { accountPage, codeField, passwordFields } from './account-page.ts'

export interface AccountPageSettings {
  password_min_length: number
  login_methods: readonly string[]
}

const FROM_MAIL = html`<p>Follow the link in the mail, or copy all of it into the address bar: it ends with <code>#token=</code> and 43 characters. Once it is open, the link is taken out of the address bar; after a reload it has to be opened again.</p>`
const NO_CONSOLE = html`<p class="soft">There is no web console in this version: programs do the rest, as <a href="/docs">the description of the interface</a> says. You may close this page.</p>`

const RESET = {
  path: '/api/v2/auth/password_resets/confirm',
  type: 'password_resets',
  operationId: 'ConfirmPasswordReset',
  busy: 'Setting the password …',
}

export function invitePage({ password_min_length: shortest, login_methods }: AccountPageSettings): string {
  const hasPassword = login_methods.includes('password')
  return accountPage({
    title: 'Accept your invitation',
    send: {
      path: '/api/v2/user_invitations/accept',
      type: 'invitation_acceptances',
      operationId: 'AcceptInvitation',
      busy: 'Accepting …',
    },
    lookup: { path: '/api/v2/user_invitations/lookup', type: 'invitation_tokens' },
    shortest: hasPassword ? shortest : undefined,
    form: html`<p>You are invited to join <strong data-fill="org_name"></strong>.</p>
<label for="email">Email address</label>
<input class="field" id="email" type="email" autocomplete="username" readonly data-fill="email">
<label for="name">Your name (optional)</label>
<input class="field" id="name" name="name" type="text" autocomplete="name" data-send>
${hasPassword && passwordFields(shortest)}
${codeField()}`,
    button: 'Accept the invitation',
    done: html`<h2 tabindex="-1">Welcome</h2>
<p>The account <strong data-fill="email"></strong> is active, and you are signed in with this browser.</p>
<p data-must-enrol hidden>This server asks for a second factor: until one is enrolled, the account may do nothing else.</p>
${NO_CONSOLE}`,
    badLink: html`<p>The invitation was used already, was withdrawn or replaced by a newer one, or is too old.</p>
<p>If you have accepted it before, sign in with the password that you chose. Otherwise ask whoever invited you for another invitation.</p>`,
    noLink: FROM_MAIL,
  })
}

export function resetPasswordPage({ password_min_length: shortest }: AccountPageSettings): string {
  return accountPage({
    title: 'Choose a new password',
    send: RESET,
    shortest,
    form: html`<p>You will be signed out everywhere else.</p>${passwordFields(shortest)}`,
    button: 'Set the password',
    done: html`<h2 tabindex="-1">The password is changed</h2>
<p>From now on <strong data-fill="email"></strong> signs in with the new password. Every session that there was has ended.</p>
${NO_CONSOLE}`,
    badLink: html`<p>It was used already, was replaced by a newer one, or is older than an hour. Nothing was changed now.</p>
<p>Ask for another link to a new password, and follow the newest one.</p>`,
    noLink: FROM_MAIL,
  })
}

export function setupPage({ password_min_length: shortest }: AccountPageSettings): string {
  return accountPage({
    title: 'Set up this server',
    send: RESET,
    shortest,
    form: html`<p>Choose the password of the first administrator.</p>${passwordFields(shortest)}`,
    button: 'Set the password',
    done: html`<h2 tabindex="-1">The server is yours</h2>
<p>Sign in as <strong data-fill="email"></strong> with the password that you just chose.</p>
${NO_CONSOLE}`,
    badLink: html`<p>It was used already, or is older than a day. Nothing was changed now.</p>
<p>At the machine that the server runs on, <code>commonplace user set-password</code> sets the password of anybody.</p>`,
    noLink: html`<p>The first start of the server printed the link on its terminal. Copy all of it into the address bar: it ends with <code>#token=</code> and 43 characters. Once it is open, the link is taken out of the address bar; after a reload it has to be opened again.</p>`,
  })
}

export function verifyEmailPage(): string {
  return accountPage({
    title: 'Confirm your email address',
    send: {
      path: '/api/v2/auth/email_verifications/confirm',
      type: 'email_verifications',
      operationId: 'ConfirmEmail',
      busy: 'Confirming …',
    },
    // A program that opens every link of a mail to look for harm does not press it.
    form: html`<p>Press the button to prove that the mail with this link reached you.</p>`,
    button: 'Confirm the address',
    done: html`<h2 tabindex="-1">The address is confirmed</h2>
<p><strong data-fill="email"></strong> is known to be yours. You may close this page.</p>`,
    badLink: html`<p>It was used already, was replaced by a newer one, is too old, or the address was changed again.</p>
<p>If you have confirmed the address before, there is nothing left to do. Otherwise ask an administrator for help.</p>`,
    noLink: FROM_MAIL,
  })
}
