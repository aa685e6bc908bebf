/** Among the first that anybody tries, of the lengths that a setting may ask for; in lower case. */
export const COMMON_PASSWORDS = new Set(
  `
    password 12345678 123456789 1234567890 12345678910 qwertyui qwertyuiop qwerty12 qwerty123 qwerty1234 qwerty12345
    qwerqwer qwer1234 qwerasdf 1q2w3e4r 1q2w3e4r5t 1qaz2wsx 1qazxsw2 zaq12wsx zaq1zaq1 q1w2e3r4 q1w2e3r4t5 qazwsxedc
    qazwsx123 qweasdzxc qweasd123 qwe123456 qweqweqwe asdfghjk asdfghjkl asdf1234 asdfasdf zxcvbnm1 zxcvbnm123 zxczxczxc
    poiuytrewq lkjhgfdsa mnbvcxz1 password1 password2 password12 password123 password! password01 passw0rd p@ssw0rd
    p@ssword pa$$word pa55word p4ssw0rd mypassword pass1234 pass12345 passpass iloveyou iloveyou1 iloveyou2 iloveyou12
    iloveu123 loveyou1 lovelove sunshine sunshine1 princess princess1 babygirl babygirl1 football football1 football12
    baseball baseball1 basketball superman superman1 batman123 spiderman trustno1 whatever whatever1 starwars startrek
    computer computer1 internet minecraft pokemon1 pokemon123 google123 facebook1 linkedin samsung1 samsung123 myspace1
    michelle jennifer jessica1 jordan23 michael1 charlie1 ashley123 liverpool liverpool1 chelsea1 arsenal1 barcelona
    realmadrid juventus manchester butterfly chocolate elephant blink182 metallica slipknot tinkerbell spongebob
    corvette mustang1 mercedes welcome1 welcome12 welcome123 letmein1 letmein12 letmein123 changeme changeme1 changeme12
    changeme123 default1 secret12 secret123 admin123 admin1234 admin12345 adminadmin administrator rootroot root1234
    superuser testtest test1234 test12345 testing1 testing123 guest123 guestguest user1234 username hello123 hello1234
    hellohello summer12 summer123 winter123 spring123 autumn123 commonplace dragon12 dragon123 monkey12 monkey123
    master12 master123 shadow12 shadow123 killer123 freedom1 ninja123 abcd1234 abcdefgh abcdefghi abcdefghij abcabcabc
    abc12345 abc123456 abc123abc aa123456 aa12345678 a1234567 a12345678 a123456789 1234abcd 123456ab 123456abc 12345abc
    11111111 111111111 1111111111 22222222 33333333 44444444 55555555 66666666 77777777 88888888 888888888 8888888888
    99999999 999999999 00000000 000000000 0000000000 aaaaaaaa aaaaaaaaaa xxxxxxxx zzzzzzzz 11223344 112233445 1122334455
    12121212 1212121212 12341234 1234512345 12344321 123123123 1231231234 123321123 123454321 87654321 987654321
    9876543210 0987654321 01234567 012345678 0123456789 10101010 13131313 31415926 314159265 147258369 147852369
    159357159 159753159 741852963 789456123 963852741 456456456 789789789 11112222 12345679 123456788 123456789012
    1234567890123 12345678901234 123456789012345 1234567890123456 012345678910 111111111111 000000000000 aaaaaaaaaaaa
    abcdefghijkl abcdefghijklm abcdefghijklmnop abcd12345678 qwertyuiop12 qwertyuiop123 qwertyuiopasdf qwertyuiop[]
    qwerty123456 qwertyqwerty 1q2w3e4r5t6y 1qaz2wsx3edc 1qaz2wsx3edc4rfv zaq12wsxcde3 asdfghjkl123 asdfasdfasdf
    zxcvbnm12345 q1w2e3r4t5y6 passwordpassword password1234 password12345 password123456 mypassword123 passw0rd1234
    p@ssw0rd1234 changemechangeme changeme1234 changemenow1 letmeinletmein letmein12345 welcome12345 welcome123456
    administrator1 adminadminadmin admin1234567 admin12345678 rootrootroot superuser123 iloveyou1234 iloveyouforever
    trustno1trustno1 dragondragon monkeymonkey sunshine1234 princess1234 football1234 baseball1234 superman1234
    correcthorsebatterystaple commonplace1 commonplace123
  `
    .trim()
    .split(/\s+/),
)
