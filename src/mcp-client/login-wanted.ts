/** How the error of a server begins that lets nobody in without a login. */
export const LOGIN_WANTED = 'it wants a login';
